#include "report/draw/drawing.h"

#include "base/mem.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

struct ys_chart_curve *ys_drawing_add(struct ys_drawing *drawing, const char *name, size_t points)
{
    drawing->curves = ys_grown(drawing->curves, drawing->count, &drawing->capacity, sizeof *drawing->curves);
    struct ys_chart_curve *curve = &drawing->curves[drawing->count++];
    *curve = (struct ys_chart_curve){.name = ys_strdup(name),
                                     .x = ys_alloc(points + 1, sizeof *curve->x),
                                     .y = ys_alloc(points + 1, sizeof *curve->y),
                                     .lo = ys_alloc(points + 1, sizeof *curve->lo),
                                     .hi = ys_alloc(points + 1, sizeof *curve->hi),
                                     .titles = ys_alloc(points + 1, sizeof *curve->titles)};
    return curve;
}

static struct ys_chart_curve *find(const struct ys_drawing *drawing, const char *name)
{
    for (size_t i = 0; i < drawing->count; i++)
        if (strcmp(drawing->curves[i].name, name) == 0)
            return &drawing->curves[i];
    return NULL;
}

struct ys_chart_curve *ys_drawing_member(struct ys_drawing *drawing, const char *name, int group, size_t points)
{
    struct ys_chart_curve *curve = find(drawing, name);
    if (curve || drawing->count >= YS_DRAWING_MOST)
        return curve;
    int member = 0;
    for (size_t c = 0; c < drawing->count; c++)
        member += drawing->curves[c].group == group;
    curve = ys_drawing_add(drawing, name, points);
    curve->group = group;
    curve->member = member;
    curve->strong = true;
    return curve;
}

void ys_drawing_point(struct ys_chart_curve *curve, double x, double y, double lo, double hi, struct ys_buf *title)
{
    size_t at = curve->count++;
    char *said = ys_strdup(ys_buf_text(title));
    ys_buf_free(title);
    for (; at > 0 && curve->x[at - 1] > x; at--) {
        curve->x[at] = curve->x[at - 1];
        curve->y[at] = curve->y[at - 1];
        curve->lo[at] = curve->lo[at - 1];
        curve->hi[at] = curve->hi[at - 1];
        curve->titles[at] = curve->titles[at - 1];
    }
    curve->x[at] = x;
    curve->y[at] = y;
    curve->lo[at] = lo;
    curve->hi[at] = hi;
    curve->titles[at] = said;
}

void ys_drawing_plain(struct ys_chart_curve *curve, double x, double y)
{
    ys_free(curve->titles);
    curve->titles = NULL;
    curve->x[curve->count] = x;
    curve->y[curve->count] = y;
    curve->lo[curve->count] = curve->hi[curve->count] = NAN;
    curve->count++;
}

void ys_drawing_fini(struct ys_drawing *drawing)
{
    for (size_t i = 0; i < drawing->count; i++)
        ys_free((void *)(uintptr_t)drawing->curves[i].name);
    ys_chart_free_curves(drawing->curves, drawing->count);
    *drawing = (struct ys_drawing){0};
}
