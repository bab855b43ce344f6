/* lua_plot.h - what the bindings of figures share. */
#ifndef SS_LUA_PLOT_H
#define SS_LUA_PLOT_H

#include <lua.h>

#include "io/plot.h"

/* Option `width` of the table at `index`: inches, a column unless given. */
double ss_lua_plot_width(lua_State *L, int index);

/* The usual figure of a width, with the scripts of this installation; pushes what it refers to. */
ss_plot_options ss_lua_plot_options(lua_State *L, double width, const char *gnuplot_or_null);

/* Each adds the figures of its file to the module on top of the stack. */
void ss_lua_add_plot_calibration(lua_State *L);
void ss_lua_add_plot_search(lua_State *L);
void ss_lua_add_plot_lines(lua_State *L);
void ss_lua_add_plot_strategy(lua_State *L);

#endif
