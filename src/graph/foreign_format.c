#include "graph/foreign_format.h"

#include <string.h>
#include <strings.h>

static const char pull[] = "`git lfs pull` fetches it";
static const char get[] = "`git annex get` fetches it";
static const char pull_data[] = "`dvc pull` fetches it";
static const char again[] = "download it again from an address that exists";
static const char download[] = "download the file itself, which GitHub calls raw";
static const char export[] =
    "load it in PyTorch and write it with torch.onnx.export(model, example, \"net.onnx\", dynamo=True)";
static const char convert[] = "write it as ONNX with what its framework has for that (model.export of Keras, tf2onnx)";
static const char older[] = "take the ONNX file that it was made of";
static const char weights[] = "it has weights and no network: load them into the network and export that as ONNX";
static const char unpack[] = "unpack it";
static const char binary[] = "write it as protocol buffers";
static const char json[] = "a graph of yardstick's has a name that ends in .json";
static const char onnx[] = "give it a name that ends in .onnx";

/* `sign` stands `at` bytes from the begin; text without regard to capitals, behind a byte order mark and blanks. */
static const struct foreign_kind {
    enum { BYTES, TEXT } how;
    size_t at, size;
    const char *sign, *what, *remedy;
} kinds[] = {
#define SIGN(how, at, sign, what, remedy)                                                                              \
    {                                                                                                                  \
        how, at, sizeof(sign) - 1, sign, what, remedy                                                                  \
    }
    SIGN(TEXT, 0, "version https://git-lfs", "a pointer of Git LFS, without the file that it stands for", pull),
    SIGN(TEXT, 0, "/annex/objects/", "a pointer of git-annex, without the file that it stands for", get),
    SIGN(TEXT, 0, "../.git/annex/", "a pointer of git-annex, without the file that it stands for", get),
    SIGN(TEXT, 0, "outs:", "a pointer of DVC, without the file that it stands for", pull_data),
    SIGN(TEXT, 0, "404", "what a server says where there is no such file", again),
    SIGN(TEXT, 0, "Not found", "what a server says where there is no such file", again),
    SIGN(TEXT, 0, "Invalid username or password", "what a server says to whom it does not know", again),
    SIGN(TEXT, 0, "<!doctype html", "an HTML page", download),
    SIGN(TEXT, 0, "<html", "an HTML page", download),
    SIGN(TEXT, 0, "<", "a page of the web, or XML", download),
    SIGN(BYTES, 0, "PK\x03\x04", "a ZIP archive, as PyTorch and Keras save networks", export),
    SIGN(BYTES, 0, "\x80\x02", "a pickle, as PyTorch saves networks", export),
    SIGN(BYTES, 0, "\x80\x03", "a pickle of Python", export),
    SIGN(BYTES, 0, "\x80\x04", "a pickle of Python", export),
    SIGN(BYTES, 0, "\x80\x05", "a pickle of Python", export),
    SIGN(BYTES, 0, "\x89HDF\r\n", "an HDF5 file, as Keras saves networks", convert),
    SIGN(BYTES, 4, "TFL3", "a TensorFlow Lite file", convert),
    SIGN(BYTES, 4, "ORTM", "in ONNX Runtime's own form", older),
    SIGN(BYTES, 0, "GGUF", "a GGUF file of weights", weights),
    SIGN(BYTES, 0, "\x93NUMPY", "an array of NumPy", weights),
    SIGN(BYTES, 8, "{\"", "a safetensors file", weights),
    SIGN(BYTES, 0, "\x1f\x8b", "compressed by gzip", unpack),
    SIGN(BYTES, 0, "BZh", "compressed by bzip2", unpack),
    SIGN(BYTES, 0,
         "\xfd"
         "7zXZ",
         "compressed by xz", unpack),
    SIGN(BYTES, 0, "\x28\xb5\x2f\xfd", "compressed by zstd", unpack),
    SIGN(BYTES, 257, "ustar", "a tar archive", unpack),
    SIGN(TEXT, 0, "ir_version", "ONNX as text", binary),
    SIGN(TEXT, 0, "{", "JSON text", json),
    SIGN(BYTES, 0, "\x08", "a message of protocol buffers, as ONNX files are", onnx),
};

static bool fits(const struct foreign_kind *kind, const char *bytes, size_t size)
{
    size_t at = kind->at;
    if (kind->how == TEXT && size >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0)
        at = 3;
    while (kind->how == TEXT && at < size && memchr(" \t\r\n", bytes[at], 4))
        at++;
    if (at > size || size - at < kind->size)
        return false;
    return kind->how == TEXT ? strncasecmp(bytes + at, kind->sign, kind->size) == 0
                             : memcmp(bytes + at, kind->sign, kind->size) == 0;
}

/* Of kinds with other remedies than `own`, whose signs have `least` bytes. */
static ys_status look(const char *bytes, size_t size, const char *own, size_t least)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (kinds[i].size >= least && kinds[i].remedy != own && fits(&kinds[i], bytes, size))
            return ys_fail(YS_EFORMAT, "it is %s: %s", kinds[i].what, kinds[i].remedy);
    return YS_OK;
}

ys_status ys_model_foreign(const char *bytes, size_t size, bool is_onnx)
{
    return size == 0 ? ys_fail(YS_EFORMAT, "it is empty: bring it again") : look(bytes, size, is_onnx ? onnx : json, 0);
}

ys_status ys_model_foreign_numbers(const char *bytes, size_t size)
{
    enum { NO_CHANCE = 8 };
    return look(bytes, size, NULL, NO_CHANCE);
}
