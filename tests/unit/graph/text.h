/* Graphs as text for the tests: ' stands for ", and a test changes one place of a graph that is right. */
#ifndef YS_TESTS_GRAPH_TEXT_H
#define YS_TESTS_GRAPH_TEXT_H

#include "base/mem.h"
#include "graph/graph.h"
#include <string.h>

static const char RIGHT[] =
    "{'format':'yardstick-graph','version':1,'name':'tiny',"
    "'inputs':[{'name':'x','shape':['N',1,6,6],'dtype':'U8'}],'nodes':["
    "{'op':'normalize','name':'n','in':['x'],'out':['nv'],'attrs':{'scale':0.5,'mean':[0.25],'std':[2]}},"
    "{'op':'Conv','name':'c','in':['nv'],'out':['cv'],'attrs':{'kernel_shape':[3,3],'pads':[1,1,1,1]},"
    "'params':{'weight':'c.w','bias':'c.b'}},"
    "{'op':'Relu','name':'r','in':['cv'],'out':['rv']},"
    "{'op':'MaxPool','name':'p','in':['rv'],'out':['pv'],'attrs':{'kernel_shape':[2,2],'strides':[2,2]}},"
    "{'op':'Flatten','name':'f','in':['pv'],'out':['fv']},"
    "{'op':'Gemm','name':'g','in':['fv'],'out':['gv'],'params':{'weight':'g.w','bias':'g.b'}}],"
    "'params':["
    "{'name':'c.w','shape':[2,1,3,3],'role':'weight','init':{'dist':'uniform','low':-0.1,'high':0.1}},"
    "{'name':'c.b','shape':[2],'role':'weight','init':{'dist':'constant','value':0},'lr_mult':2,'decay_mult':0},"
    "{'name':'g.w','shape':[3,18],'role':'weight','init':{'dist':'normal','mean':0,'std':0.1}},"
    "{'name':'g.b','shape':[3],'role':'weight','init':{'dist':'truncated_normal','mean':1,'std':0.5}}],"
    "'output':'gv','loss':'softmax_cross_entropy'}";

/** `text` with ' made "; to be freed. */
__attribute__((unused)) static char *quoted(const char *text)
{
    char *copy = ys_strdup(text);
    for (char *c = copy; c && *c; c++)
        if (*c == '\'')
            *c = '"';
    return copy;
}

__attribute__((unused)) static ys_status read_text(const char *text, struct ys_graph **graph)
{
    char *copy = quoted(text);
    ys_json *json = NULL;
    ys_status status = ys_json_parse(copy, strlen(copy), "t.json", &json);
    ys_free(copy);
    if (status == YS_OK)
        status = ys_graph_from_json(json, "t.json", graph);
    ys_json_free(json);
    return status;
}

/** Reads RIGHT with the first `from` in it replaced by `to`. */
__attribute__((unused)) static ys_status read_changed(const char *from, const char *to, struct ys_graph **graph)
{
    const char *at = strstr(RIGHT, from);
    if (!at)
        return ys_fail(YS_EINTERNAL, "the test's graph has no %s", from);
    char *text = ys_format("%.*s%s%s", (int)(at - RIGHT), RIGHT, to, at + strlen(from));
    ys_status status = read_text(text, graph);
    ys_free(text);
    return status;
}

#endif
