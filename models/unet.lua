-- unet.lua - U-Net for segmentation (Ronneberger et al., MICCAI 2015).
--
-- padding = 0 is the paper's network: unpadded convolutions, so that what crosses over from the
-- contracting to the expanding side is cropped, and 572 x 572 pixels give 388 x 388.  padding = 1
-- keeps the size, as most later versions do; the image must then divide by 2^levels.

local model = require "soapstone.model"
local options = require "soapstone.options"

return function(o)
  o = options(o, { batch = 1, image = 572, channels = 1, classes = 2, width = 64, levels = 4,
    padding = options.count(0, { min = 0, max = 1 }), dtype = "f32", optimizer = "momentum", halo = true })
  local m = model.new { name = "unet", dtype = o.dtype, optimizer = o.optimizer, halo = o.halo }

  local function two_convolutions(name, x, out)
    for i = 1, 2 do
      x = m:conv2d(("%s.conv%d"):format(name, i), x,
        { out = out, kernel = 3, padding = o.padding, activation = "relu" })
    end
    return x
  end

  -- The middle of an image, as large as another.
  local function crop(name, x, like)
    for d = 3, 4 do
      local axis, size, more = d == 3 and "h" or "w", like.shape[d], x.shape[d] - like.shape[d]
      if more > 0 then
        x = m:slice(("%s.crop_%s"):format(name, axis), x,
          { axis = axis, start = more // 2, size = size })
      end
    end
    return x
  end

  local x = m:input("image", { o.batch, o.channels, o.image, o.image })
  local across = {}
  for level = 1, o.levels do
    across[level] = two_convolutions("down" .. level, x, o.width << (level - 1))
    x = m:pool2d(("down%d.pool"):format(level), across[level], { type = "max", kernel = 2 })
  end
  x = two_convolutions("bottom", x, o.width << o.levels)
  for level = o.levels, 1, -1 do
    local name = "up" .. level
    x = m:conv_transpose2d(name .. ".up", x,
      { out = o.width << (level - 1), kernel = 2, stride = 2 })
    x = m:concat(name .. ".join", { crop(name, across[level], x), x }, { axis = "c" })
    x = two_convolutions(name, x, o.width << (level - 1))
  end
  x = m:conv2d("classes", x, { out = o.classes, kernel = 1 })
  m:softmax_cross_entropy("loss", x)
  return m
end
