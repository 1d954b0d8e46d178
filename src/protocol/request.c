#include "protocol/request.h"

/* `message`, whose members were set with `status`. */
static ys_json *whole(ys_json *message, ys_status status)
{
    if (status == YS_OK)
        return message;
    ys_json_free(message);
    return NULL;
}

ys_json *ys_request(const char *type)
{
    ys_json *message = ys_json_object();
    return whole(message, ys_json_set_string(message, "type", type));
}

ys_json *ys_request_open(const struct ys_plan *plan)
{
    ys_json *message = ys_request("open");
    return whole(message, ys_json_set(message, "plan", ys_record_json(&ys_plan_record, plan)));
}

ys_json *ys_request_pass(const char *type, int64_t batch, const char *mode)
{
    ys_json *message = ys_request(type);
    ys_json_set_int(message, "batch", batch);
    return whole(message, ys_json_set_string(message, "mode", mode));
}

ys_json *ys_request_step(int64_t n)
{
    ys_json *message = ys_request("step");
    return whole(message, ys_json_set_int(message, "n", n));
}

ys_json *ys_request_train(int64_t from, int64_t to, int64_t block)
{
    ys_json *message = ys_request("train");
    ys_json_set_int(message, "from", from);
    ys_json_set_int(message, "to", to);
    return whole(message, ys_json_set_int(message, "block", block));
}

ys_json *ys_request_input_gradient(const char *path, const char *cotangent)
{
    ys_json *message = ys_request("input_gradient");
    if (cotangent)
        ys_json_set_string(message, "cotangent", cotangent);
    return whole(message, ys_json_set_string(message, "path", path));
}

ys_json *ys_request_save(const char *path, const char *dtype)
{
    ys_json *message = ys_request("save");
    ys_json_set_string(message, "format", "safetensors");
    if (dtype)
        ys_json_set_string(message, "dtype", dtype);
    return whole(message, ys_json_set_string(message, "path", path));
}
