/* A plugin of qemu's: counts the instructions of the program that it runs, in memory which that program finds among its
 * own descriptors as the file COUNTER (src/protocol/emulator_counter.h) and maps. What it needs of qemu's interface is
 * declared here, as version 1 of it is documented (docs/devel/tcg-plugins.rst of qemu). */
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXPORT  __attribute__((visibility("default")))
#define COUNTER "yardstick-instructions"

struct qemu_plugin_tb;
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, void (*translated)(uint64_t id, struct qemu_plugin_tb *block));
enum { QEMU_PLUGIN_INLINE_ADD_U64 }; /* of qemu_plugin_op */
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *block, int operation, void *sum, uint64_t summand);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
EXPORT extern int qemu_plugin_version;
EXPORT int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv);

int qemu_plugin_version = 1;
static uint64_t *counter;

static void translated(uint64_t id, struct qemu_plugin_tb *block)
{
    (void)id;
    qemu_plugin_register_vcpu_tb_exec_inline(block, QEMU_PLUGIN_INLINE_ADD_U64, counter, qemu_plugin_tb_n_insns(block));
}

int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv)
{
    (void)info, (void)argc, (void)argv;
    int file = memfd_create(COUNTER, 0);
    if (file < 0 || ftruncate(file, sizeof *counter) != 0)
        return 1;
    counter = mmap(NULL, sizeof *counter, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (counter == MAP_FAILED)
        return 1;
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    return 0;
}
