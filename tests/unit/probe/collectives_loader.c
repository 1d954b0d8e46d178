/* Loads the module that is its first argument as Python loads one, and has it act by the others. */
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char **words)
{
    void *module = count > 1 ? dlopen(words[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    int (*act)(int, char *const *) = module ? (int (*)(int, char *const *))dlsym(module, "act") : NULL;
    if (act)
        return act(count - 2, words + 2);
    fprintf(stderr, "%s\n", dlerror());
    return 99;
}
