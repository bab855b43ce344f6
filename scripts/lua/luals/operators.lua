---@meta
-- Written by generate.lua; a test holds it equal to what that writes.

---@class soapstone.model
local model = {}

---@class soapstone.conv2d_options
---@field kernel? integer|integer[] both, or { h, w }
---@field stride? integer|integer[] both, or { h, w }
---@field padding? integer|integer[] both, or { h, w }
---@field out integer output channels
---@field kernel_h? integer height of the window
---@field kernel_w? integer width of the window
---@field stride_h? integer rows between windows; 1 unless given
---@field stride_w? integer columns between windows; 1 unless given
---@field padding_h? integer rows of zeros above and below; 0 unless given
---@field padding_w? integer columns of zeros left and right; 0 unless given
---@field groups? integer groups of channels convolved on their own; 1 unless given
---@field bias? boolean add a number for each output channel; true unless given
---@field norm? "none"|"batch" normalise the result over the batch; none unless given
---@field activation? "none"|"relu"|"gelu"|"tanh"|"sigmoid" function applied to the result; none unless given
---@field share? string operators with one label share their weights
---@field layer? integer for grouping and placement

---convolution over images (n c h w), with optional bias, normalisation and activation
---@param name string
---@param input soapstone.tensor
---@param options? soapstone.conv2d_options
---@return soapstone.tensor ...
function model:conv2d(name, input, options) end

---@class soapstone.conv_transpose2d_options
---@field kernel? integer|integer[] both, or { h, w }
---@field stride? integer|integer[] both, or { h, w }
---@field padding? integer|integer[] both, or { h, w }
---@field out integer output channels
---@field kernel_h? integer height of the window
---@field kernel_w? integer width of the window
---@field stride_h? integer output rows between windows; 1 unless given
---@field stride_w? integer output columns between windows; 1 unless given
---@field padding_h? integer output rows cut off above and below; 0 unless given
---@field padding_w? integer output columns cut off left and right; 0 unless given
---@field bias? boolean add a number for each output channel; true unless given
---@field activation? "none"|"relu"|"gelu"|"tanh"|"sigmoid" function applied to the result; none unless given
---@field share? string operators with one label share their weights
---@field layer? integer for grouping and placement

---transposed convolution over images: makes them larger
---@param name string
---@param input soapstone.tensor
---@param options? soapstone.conv_transpose2d_options
---@return soapstone.tensor ...
function model:conv_transpose2d(name, input, options) end

---@class soapstone.pool2d_options
---@field kernel? integer|integer[] both, or { h, w }
---@field stride? integer|integer[] both, or { h, w }
---@field padding? integer|integer[] both, or { h, w }
---@field type? "max"|"avg" which value of a window; a mean leaves padding out; max unless given
---@field kernel_h? integer height of the window
---@field kernel_w? integer width of the window
---@field stride_h? integer rows between windows; 0: the window's height; 0 unless given
---@field stride_w? integer columns between windows; 0: its width; 0 unless given
---@field padding_h? integer rows of padding above and below; 0 unless given
---@field padding_w? integer columns of padding left and right; 0 unless given
---@field share? string operators with one label share their weights
---@field layer? integer for grouping and placement

---largest or mean value of each window of an image
---@param name string
---@param input soapstone.tensor
---@param options? soapstone.pool2d_options
---@return soapstone.tensor ...
function model:pool2d(name, input, options) end

---@class soapstone.upsample2d_options
---@field factor? integer|integer[] both, or { h, w }
---@field factor_h? integer how many times as high; 2 unless given
---@field factor_w? integer how many times as wide; 2 unless given
---@field share? string operators with one label share their weights
---@field layer? integer for grouping and placement

---each pixel becomes a block of equal ones (nearest neighbour)
---@param name string
---@param input soapstone.tensor
---@param options? soapstone.upsample2d_options
---@return soapstone.tensor ...
function model:upsample2d(name, input, options) end

---@class soapstone.batch_norm_options
---@field share? string operators with one label share their weights
---@field layer? integer for grouping and placement

---normalise each channel over the batch; statistics of each part are its own
---@param name string
---@param input soapstone.tensor
---@param options? soapstone.batch_norm_options
---@return soapstone.tensor ...
function model:batch_norm(name, input, options) end

---@class soapstone.layer_norm_options
---@field bias? boolean shift as well as scale; true unless given
---@field share? string operators with one label share their weights
---@field layer? integer for grouping and placement

---normalise over the channels of each position
---@param name string
---@param input soapstone.tensor
---@param options? soapstone.layer_norm_options
---@return soapstone.tensor ...
function model:layer_norm(name, input, options) end

---@class soapstone.rms_norm_options
---@field share? string operators with one label share their weights
---@field layer? integer for grouping and placement

---scale the channels of each position by their root mean square
---@param name string
---@param input soapstone.tensor
---@param options? soapstone.rms_norm_options
---@return soapstone.tensor ...
function model:rms_norm(name, input, options) end

---@class soapstone.relu_options
---@field share? string operators with one label share their weights
---@field layer? integer for grouping and placement

---the positive part of each number
---@param name string
---@param input soapstone.tensor
---@param options? soapstone.relu_options
---@return soapstone.tensor ...
function model:relu(name, input, options) end

---@class soapstone.gelu_options
---@field share? string operators with one label share their weights
---@field layer? integer for grouping and placement

---Gaussian error linear unit of each number
---@param name string
---@param input soapstone.tensor
---@param options? soapstone.gelu_options
---@return soapstone.tensor ...
function model:gelu(name, input, options) end

---@class soapstone.tanh_options
---@field share? string operators with one label share their weights
---@field layer? integer for grouping and placement

---hyperbolic tangent of each number
---@param name string
---@param input soapstone.tensor
---@param options? soapstone.tanh_options
---@return soapstone.tensor ...
function model:tanh(name, input, options) end

---@class soapstone.sigmoid_options
---@field share? string operators with one label share their weights
---@field layer? integer for grouping and placement

---logistic function of each number
---@param name string
---@param input soapstone.tensor
---@param options? soapstone.sigmoid_options
---@return soapstone.tensor ...
function model:sigmoid(name, input, options) end

---@class soapstone.dropout_options
---@field share? string operators with one label share their weights
---@field layer? integer for grouping and placement

---random numbers are set to zero
---@param name string
---@param input soapstone.tensor
---@param options? soapstone.dropout_options
---@return soapstone.tensor ...
function model:dropout(name, input, options) end

---@class soapstone.scale_options
---@field share? string operators with one label share their weights
---@field layer? integer for grouping and placement

---each number times a constant
---@param name string
---@param input soapstone.tensor
---@param options? soapstone.scale_options
---@return soapstone.tensor ...
function model:scale(name, input, options) end

---@class soapstone.add_options
---@field activation? "none"|"relu"|"gelu"|"tanh"|"sigmoid" function applied to the sum; none unless given
---@field share? string operators with one label share their weights
---@field layer? integer for grouping and placement

---sum of tensors of one shape, with optional activation
---@param name string
---@param input soapstone.tensor|soapstone.tensor[]
---@param options? soapstone.add_options
---@return soapstone.tensor ...
function model:add(name, input, options) end

---@class soapstone.mul_options
---@field share? string operators with one label share their weights
---@field layer? integer for grouping and placement

---product, number by number, of tensors of one shape
---@param name string
---@param input soapstone.tensor|soapstone.tensor[]
---@param options? soapstone.mul_options
---@return soapstone.tensor ...
function model:mul(name, input, options) end

---@class soapstone.concat_options
---@field axis? "c"|"h"|"w"|"l" along which dimension; c unless given
---@field share? string operators with one label share their weights
---@field layer? integer for grouping and placement

---tensors one behind the other along an axis
---@param name string
---@param input soapstone.tensor|soapstone.tensor[]
---@param options? soapstone.concat_options
---@return soapstone.tensor ...
function model:concat(name, input, options) end

---@class soapstone.slice_options
---@field axis? "c"|"h"|"w"|"l" of which dimension; c unless given
---@field start? integer first element taken, from 0; 0 unless given
---@field size integer how many elements are taken
---@field share? string operators with one label share their weights
---@field layer? integer for grouping and placement

---a range of an axis: a crop, the last steps, one of several packed tensors
---@param name string
---@param input soapstone.tensor
---@param options? soapstone.slice_options
---@return soapstone.tensor ...
function model:slice(name, input, options) end

---@class soapstone.select_options
---@field index? integer position, from 0; -1 is the last, -2 the one before; -1 unless given
---@field share? string operators with one label share their weights
---@field layer? integer for grouping and placement

---one position of a sequence: n x l x c becomes n x c
---@param name string
---@param input soapstone.tensor
---@param options? soapstone.select_options
---@return soapstone.tensor ...
function model:select(name, input, options) end

---@class soapstone.flatten_options
---@field share? string operators with one label share their weights
---@field layer? integer for grouping and placement

---all dimensions but the sample become one; it splits along whole channels
---@param name string
---@param input soapstone.tensor
---@param options? soapstone.flatten_options
---@return soapstone.tensor ...
function model:flatten(name, input, options) end

---@class soapstone.to_sequence_options
---@field share? string operators with one label share their weights
---@field layer? integer for grouping and placement

---the pixels of an image, row by row, as a sequence: n x c x h x w becomes n x hw x c
---@param name string
---@param input soapstone.tensor
---@param options? soapstone.to_sequence_options
---@return soapstone.tensor ...
function model:to_sequence(name, input, options) end

---@class soapstone.linear_options
---@field out integer output features
---@field bias? boolean add a number for each output feature; true unless given
---@field activation? "none"|"relu"|"gelu"|"tanh"|"sigmoid" function applied to the result; none unless given
---@field share? string operators with one label share their weights
---@field layer? integer for grouping and placement

---product of the features (last dimension) with a matrix, with optional bias and activation
---@param name string
---@param input soapstone.tensor
---@param options? soapstone.linear_options
---@return soapstone.tensor ...
function model:linear(name, input, options) end

---@class soapstone.embedding_options
---@field vocab integer rows of the table
---@field out integer numbers in a row
---@field dtype? "f64"|"f32"|"tf32"|"bf16"|"f16"|"f8" element type of the table; f32 unless given
---@field share? string operators with one label share their weights
---@field layer? integer for grouping and placement

---the row of a table that each index names
---@param name string
---@param input soapstone.tensor
---@param options? soapstone.embedding_options
---@return soapstone.tensor ...
function model:embedding(name, input, options) end

---@class soapstone.position_options
---@field positions? integer rows of the table; 0: as many as the sequence has; 0 unless given
---@field share? string operators with one label share their weights
---@field layer? integer for grouping and placement

---a learned vector for each position is added to a sequence
---@param name string
---@param input soapstone.tensor
---@param options? soapstone.position_options
---@return soapstone.tensor ...
function model:position(name, input, options) end

---@class soapstone.lstm_options
---@field hidden integer units
---@field bias? boolean two biases for each gate of each unit; false unless given
---@field state_steps? integer how many steps the states hy and cy are counted for; 1 unless given
---@field share? string operators with one label share their weights
---@field layer? integer for grouping and placement

---steps of a long short-term memory layer: x, or x, hx, cx in; y, hy, cy out
---@param name string
---@param input soapstone.tensor|soapstone.tensor[]
---@param options? soapstone.lstm_options
---@return soapstone.tensor ...
function model:lstm(name, input, options) end

---@class soapstone.attention_options
---@field share? string operators with one label share their weights
---@field layer? integer for grouping and placement

---each decoder step (input 1) attends to all source steps (the other inputs)
---@param name string
---@param input soapstone.tensor|soapstone.tensor[]
---@param options? soapstone.attention_options
---@return soapstone.tensor ...
function model:attention(name, input, options) end

---@class soapstone.multihead_attention_options
---@field heads integer heads; they divide the channels
---@field causal? boolean a position sees itself and earlier ones alone; false unless given
---@field fused? boolean one kernel that never stores the scores (as FlashAttention) and skips masked ones; true unless given
---@field share? string operators with one label share their weights
---@field layer? integer for grouping and placement

---attention by heads over packed q, k, v (one input), or over q and packed k, v (two)
---@param name string
---@param input soapstone.tensor|soapstone.tensor[]
---@param options? soapstone.multihead_attention_options
---@return soapstone.tensor ...
function model:multihead_attention(name, input, options) end

---@class soapstone.softmax_options
---@field share? string operators with one label share their weights
---@field layer? integer for grouping and placement

---probabilities from the channels of each position
---@param name string
---@param input soapstone.tensor
---@param options? soapstone.softmax_options
---@return soapstone.tensor ...
function model:softmax(name, input, options) end

---@class soapstone.softmax_cross_entropy_options
---@field share? string operators with one label share their weights
---@field layer? integer for grouping and placement

---softmax over the channels, here classes, and cross-entropy; ends in the loss
---@param name string
---@param input soapstone.tensor
---@param options? soapstone.softmax_cross_entropy_options
---@return soapstone.tensor ...
function model:softmax_cross_entropy(name, input, options) end

---@class soapstone.linear_softmax_options
---@field out integer classes
---@field bias? boolean add a number for each class; true unless given
---@field share? string operators with one label share their weights
---@field layer? integer for grouping and placement

---linear, softmax and cross-entropy in one; ends in the loss
---@param name string
---@param input soapstone.tensor
---@param options? soapstone.linear_softmax_options
---@return soapstone.tensor ...
function model:linear_softmax(name, input, options) end

---@class soapstone.squared_error_options
---@field share? string operators with one label share their weights
---@field layer? integer for grouping and placement

---mean squared error against labels or against a second input; ends in the loss
---@param name string
---@param input soapstone.tensor|soapstone.tensor[]
---@param options? soapstone.squared_error_options
---@return soapstone.tensor ...
function model:squared_error(name, input, options) end
