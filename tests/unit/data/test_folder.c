#include "data/folders/folder.h"
#include "base/mem.h"
#include "data/dataset.h"

#include "tap.h"
#include "unit/base/scratch.h"

#include <fcntl.h>
#include <sys/stat.h>

static struct ys_folder folder;

/* Files only need names: no image is opened here. */
static void make(const char *path)
{
    char *parent = ys_path_dir(scratch(path));
    if (!parent || ys_fs_make_dirs(parent) != YS_OK)
        exit(1);
    ys_free(parent);
    scratch_text(path, "x");
}

static ys_status look(const char *path)
{
    ys_folder_fini(&folder);
    return ys_folder_read(scratch(path), &folder);
}

static bool ends_in(const char *text, const char *ending)
{
    const size_t length = strlen(text), wanted = strlen(ending);
    return length >= wanted && strcmp(text + length - wanted, ending) == 0;
}

static void halves_are_taken_as_the_folder_has_them(void)
{
    static const char *const names[] = {"test", "val", "validation"};
    for (int i = 0; i < 3; i++) {
        char path[64];
        const char *const files[] = {"train/dog/b.jpg",  "train/dog/a/deep.PNG", "train/cat/1.jpeg",
                                     "train/cat/no.txt", "train/cat/.hid.jpg",   "train/Makefile"};
        for (size_t j = 0; j < sizeof files / sizeof files[0]; j++) {
            snprintf(path, sizeof path, "halves%d/%s", i, files[j]);
            make(path);
        }
        snprintf(path, sizeof path, "halves%d/%s/dog/c.jpg", i, names[i]);
        make(path);
        snprintf(path, sizeof path, "halves%d", i);
        REQUIRE(look(path) == YS_OK);
        CHECK(folder.count == 4 && folder.train_count == 3 && folder.classes == 2);
        CHECK(ends_in(folder.rows[0].path, "/train/cat/1.jpeg") && folder.rows[0].label == 0);
        CHECK(ends_in(folder.rows[1].path, "/train/dog/a/deep.PNG") && folder.rows[1].label == 1);
        CHECK(ends_in(folder.rows[2].path, "/train/dog/b.jpg") && !folder.rows[2].tests);
        CHECK(folder.rows[3].tests && folder.rows[3].label == 1);
    }
}

static void without_halves_one_in_ten_of_each_class_is_to_test_on(void)
{
    char path[64];
    for (int i = 0; i < 25; i++) {
        snprintf(path, sizeof path, "whole/many/%02d.png", i);
        make(path);
    }
    make("whole/few/1.png");
    make("whole/few/2.png");
    make("whole/one/1.png");
    REQUIRE(look("whole") == YS_OK);
    CHECK(folder.count == 28 && folder.train_count == 25 && folder.classes == 3);
    CHECK(ends_in(folder.rows[25].path, "few/2.png"));
    CHECK(ends_in(folder.rows[26].path, "many/09.png") && ends_in(folder.rows[27].path, "many/19.png"));
}

static void a_list_names_its_images_and_their_classes(void)
{
    make("listed/a b,c.jpg");
    make("listed/2.jpg");
    make("listed/3.jpg");
    scratch_text("listed/words.csv", "# image,class\na b,c.jpg,late\r\n2.jpg\tearly\n\n3.jpg,late");
    REQUIRE(look("listed/words.csv") == YS_OK);
    CHECK(folder.count == 3 && folder.classes == 2 && folder.train_count == 2);
    CHECK(ends_in(folder.rows[0].path, "/listed/2.jpg") && folder.rows[0].label == 0);
    scratch_text("listed/train.csv", "2.jpg,1\n3.jpg,0\n");
    scratch_text("listed/test.csv", "a b,c.jpg,1\n");
    REQUIRE(look("listed") == YS_OK);
    CHECK(folder.count == 3 && folder.train_count == 2 && folder.classes == 2);
    CHECK(ends_in(folder.rows[0].path, "/listed/3.jpg") && folder.rows[0].label == 0);
    CHECK(ends_in(folder.rows[2].path, "/listed/a b,c.jpg") && folder.rows[2].label == 1);
}

static void tiny_imagenet_is_taken_as_it_is_unpacked(void)
{
    make("tiny/train/n02/images/n02_0.JPEG");
    make("tiny/train/n01/images/n01_0.JPEG");
    make("tiny/train/n01/n01_boxes.txt");
    make("tiny/val/images/val_0.JPEG");
    make("tiny/val/images/val_1.JPEG");
    make("tiny/test/images/test_0.JPEG");
    scratch_text("tiny/val/val_annotations.txt", "val_0.JPEG\tn02\t0\t32\t44\t62\nval_1.JPEG\tn01\t52\t55\t57\t59\n");
    REQUIRE(look("tiny") == YS_OK);
    CHECK(folder.count == 4 && folder.train_count == 2 && folder.classes == 2);
    CHECK(ends_in(folder.rows[2].path, "/tiny/val/images/val_1.JPEG") && folder.rows[2].label == 0);
    CHECK(ends_in(folder.rows[3].path, "/tiny/val/images/val_0.JPEG") && folder.rows[3].label == 1);
    scratch_text("tiny/val/val_annotations.txt", "val_0.JPEG\tn02\n");
    CHECK(look("tiny") == YS_EFORMAT);
    CHECK_HAS(ys_error(), "val_annotations.txt, line 1: is no annotation");
}

static void refuses(const char *path, ys_status status, const char *words)
{
    const ys_status got = look(path);
    tap_check(got == status, __LINE__, "%s: %d, not %d", path, (int)got, (int)status);
    CHECK_HAS(ys_error(), words);
    CHECK_HAS(ys_error(), scratch_folder);
}

static void what_is_no_data_set_is_refused_with_its_path(void)
{
    refuses("nowhere", YS_ENOTFOUND, "there is no ");
    make("empty/a/readme.txt");
    refuses("empty", YS_EFORMAT, "empty/a is a class without images");
    make("loose/a.jpg");
    refuses("loose", YS_EFORMAT, "loose/a.jpg lies in no class");
    make("single/a/1.jpg");
    make("single/a/2.jpg");
    refuses("single", YS_EFORMAT, "single has images of 1 class: there must be 2 to 65536");
    make("untested/a/1.jpg");
    make("untested/b/1.jpg");
    refuses("untested", YS_EFORMAT, "has no image to test on: no class has two of them");
    make("unfilled/train/a/1.jpg");
    make("unfilled/train/b/1.jpg");
    make("unfilled/test/notes.txt");
    refuses("unfilled", YS_EFORMAT, "has no image to test on: put some into its half");
    make("stranger/train/a/1.jpg");
    make("stranger/train/b/1.jpg");
    make("stranger/test/c/1.jpg");
    refuses("stranger", YS_EFORMAT, "stranger/test/c/1.jpg: no image to train on is of its class c");
    make("stranger/test/b\xC2\xA0/1.jpg");
    CHECK(unlink(scratch("stranger/test/c/1.jpg")) == 0 && rmdir(scratch("stranger/test/c")) == 0);
    refuses("stranger", YS_EFORMAT, "no image to train on is of its class b\\xc2\\xa0");
    make("nothing/notes.txt");
    refuses("nothing", YS_EFORMAT, "nothing has no images (.jpg, .jpeg, .png)");
}

static void a_link_in_a_circle_ends(void)
{
    make("circle/a/1.jpg");
    CHECK(symlink("..", scratch("circle/a/up")) == 0);
    refuses("circle", YS_EFORMAT, "does a link lead in a circle?");
    CHECK(symlink("nowhere.jpg", scratch("whole/one/gone.jpg")) == 0);
    REQUIRE(look("whole") == YS_OK); /* a bad row, which whoever decodes it tells of */
    CHECK(folder.count == 29);
    CHECK(unlink(scratch("whole/one/gone.jpg")) == 0);
    CHECK(symlink("nowhere", scratch("whole/gone")) == 0);
    refuses("whole", YS_EFORMAT, "whole/gone: No such file or directory; is it a link to a folder that is gone?");
    CHECK(unlink(scratch("whole/gone")) == 0);
}

/* Two classes of two images in a folder. */
static void make_classes(const char *root, const char *half)
{
    static const char *const files[] = {"bus/1.jpg", "bus/2.jpg", "car/1.jpg", "car/2.jpg"};
    char path[128];
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        snprintf(path, sizeof path, "%s/%s/%s", root, half, files[i]);
        make(path);
    }
}

static void halves_are_known_by_the_names_that_people_give_them(void)
{
    static const struct {
        const char *train, *test;
    } pairs[] = {{"Training", "Testing"},
                 {"TRAIN", "Valid"},
                 {"train_set", "test_set"},
                 {"Train Images", "dev"},
                 {"training_data", "tst"},
                 {"trainset", "valset"},
                 {"train", "Validation-Set"},
                 {"train", "Eval"},
                 {"Training Images", "evaluation_images"},
                 {"seg_train", "seg_test"},
                 {"train2017", "val2017"},
                 {"Images-Train", "Images-Test"},
                 {"asl_alphabet_train", "asl_alphabet_test"},
                 {"2 training", "10 validation"},
                 {"Train\xC2\xA0", "Test\xC2\xA0"
                                   "data"}};
    char root[32], path[64];
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        snprintf(root, sizeof root, "named%zu", i);
        make_classes(root, pairs[i].train);
        snprintf(path, sizeof path, "%s/%s/car/9.jpg", root, pairs[i].test);
        make(path);
        REQUIRE(look(root) == YS_OK);
        tap_check(folder.count == 5 && folder.train_count == 4 && folder.classes == 2, __LINE__, "%s", pairs[i].train);
        CHECK(folder.rows[4].tests && ends_in(folder.rows[4].path, "/car/9.jpg") && !folder.left_out);
    }
}

static void a_class_may_be_called_like_a_half(void)
{
    static const char *const files[] = {"class/Train/1.jpg", "class/Train/2.jpg", "class/Bus/1.jpg",
                                        "class/Bus/2.jpg",   "class/Car/1.jpg",   "class/Car/2.jpg"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        make(files[i]);
    REQUIRE(look("class") == YS_OK);
    CHECK(folder.count == 6 && folder.classes == 3 && folder.train_count == 3);
    make_classes("steam", "bullet_train"); /* trains of two kinds, each with folders of its own */
    make("steam/steam_train/bus/1.jpg");
    make("steam/steam_train/tram/1.jpg");
    REQUIRE(look("steam") == YS_OK);
    CHECK(folder.count == 6 && folder.classes == 2);
}

static void a_third_part_is_left_out_and_said(void)
{
    make_classes("thirds", "train");
    make_classes("thirds", "Test");
    make_classes("thirds", "valid");
    make("thirds/train/bus/3.jfif");
    make("thirds/train/bus/@eaDir/1.jpg/SYNOPHOTO_THUMB_M.jpg");
    make("thirds/train/bus/._1.jpg");
    make("thirds/train/bus/.DS_Store");
    make("thirds/train/bus/Thumbs.db");
    REQUIRE(look("thirds") == YS_OK);
    CHECK(folder.count == 8 && folder.train_count == 4 && folder.classes == 2);
    CHECK(strstr(folder.rows[4].path, "/Test/") != NULL);
    CHECK_TEXT(folder.left_out, "1 .db (images are .jpg, .jpeg and .png), 1 .jfif (images are .jpg, .jpeg and .png), "
                                "1 folder of a system or file server, 1 hidden: its name begins with a dot, "
                                "4 of valid (Test is there to test on)");
}

static void halves_that_cannot_be_told_are_refused(void)
{
    make_classes("twice", "train");
    make_classes("twice", "Training");
    refuses("twice", YS_EFORMAT, "beside others, which may be the same half");
    make_classes("untaught", "test");
    make_classes("untaught", "val");
    refuses("untaught", YS_EFORMAT, "no folder of rows to train on: call one train");
    make_classes("beside", "train");
    make_classes("beside", "test");
    make("beside/extra/1.jpg");
    refuses("beside", YS_EFORMAT, "has train, a name for rows to train or to test on, and extra, which is none");
    make_classes("folds", "fold1");
    make_classes("folds", "fold2");
    refuses("folds", YS_EFORMAT, "has 2 folders that hold the same folders");
    make_classes("foreign", "entrenamiento");
    make_classes("foreign", "prueba");
    refuses("foreign", YS_EFORMAT, "call them train and test if they are halves");
    make("begun/trainA/1.jpg");
    make("begun/trainB/1.jpg");
    make("begun/testA/1.jpg");
    make("begun/testB/1.jpg");
    refuses("begun", YS_EFORMAT, "has folders alone whose names begin as those of halves do");
    make_classes("within/whole", "train");
    make_classes("within/whole", "test");
    refuses("within", YS_EFORMAT, "within/whole has train and test within a class");
}

static void lists_are_read_as_programs_write_them(void)
{
    static const char *const texts[] = {
        "\xEF\xBB\xBF"
        "2.jpg,cat\r\na b,c.jpg,dog\r\n3.jpg,cat\r\n",
        "image,label\n2.jpg,cat\na b,c.jpg,dog\n3.jpg,cat",
        "\xEF\xBB\xBF"
        "\"Filename\",\"Class\"\n\"2.jpg\",\"cat\"\n\"a b,c.jpg\",\"dog\"\n3.jpg,\"cat\"\n",
        "  2.jpg , cat \n\n a b,c.jpg\tdog \n3.jpg,cat  \n",
        "2.jpg,cat\ra b,c.jpg,dog\r3.jpg,cat\r",
        "2.jpg,cat\xC2\xA0\n\xC2\xA0 \"a b,c.jpg\"\xC2\xA0,dog \xC2\xA0\n3.jpg\xC2\xA0,\xC2\xA0"
        "cat\n",
    };
    make("written/a b,c.jpg");
    make("written/2.jpg");
    make("written/3.jpg");
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        scratch_text("written/images.csv", texts[i]);
        const ys_status status = look("written/images.csv");
        tap_check(status == YS_OK, __LINE__, "%zu: %s", i, status == YS_OK ? "" : ys_error());
        CHECK(folder.count == 3 && folder.classes == 2);
        CHECK(folder.count < 3 || (ends_in(folder.rows[1].path, "/a b,c.jpg") && folder.rows[1].label == 1));
    }
    make("written/quo\"te.jpg");
    scratch_text("written/images.csv", "\"quo\"\"te.jpg\",\"a \"\"b\"\"\"\n2.jpg,cat\n3.jpg,cat\n");
    CHECK(look("written/images.csv") == YS_OK && folder.count == 3);
    scratch_text("written/Train.csv", "2.jpg,cat\n3.jpg,dog\n");
    scratch_text("written/TEST.CSV", "a b,c.jpg,dog\n");
    REQUIRE(look("written") == YS_OK);
    CHECK(folder.count == 3 && folder.train_count == 2);
}

static void an_image_is_of_one_class_and_one_half(void)
{
    static const char *const files[] = {"both/1.jpg", "both/2.jpg", "both/3.jpg", "both/4.jpg"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        make(files[i]);
    scratch_text("both/images.csv", "1.jpg,cat\n2.jpg,dog\n3.jpg,cat\n4.jpg,dog\n1.jpg,cat\n");
    CHECK(look("both/images.csv") == YS_OK && folder.count == 5); /* as often as somebody wants it */
    scratch_text("both/images.csv", "1.jpg,cat\n2.jpg,dog\n3.jpg,cat\n4.jpg,dog\n1.jpg,dog\n");
    refuses("both/images.csv", YS_EFORMAT, "1.jpg is of class");
    scratch_text("both/train.csv", "1.jpg,cat\n2.jpg,dog\n");
    scratch_text("both/test.csv", "3.jpg,cat\n2.jpg,dog\n");
    refuses("both", YS_EFORMAT, "too: test on others than are trained on");
}

static void put_bytes(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(scratch(path), "wb");
    REQUIRE(file && fwrite(bytes, 1, size, file) == size);
    fclose(file);
}

static void lines_that_say_nothing_are_refused_with_their_number(void)
{
    static const struct {
        const char *text, *words;
        ys_status status;
    } lists[] = {
        {"2.jpg,0\n3.jpg\n", "line 2: write IMAGE,CLASS", YS_EFORMAT},
        {"2.jpg,\n", "line 1: write IMAGE,CLASS", YS_EFORMAT},
        {",cat\n", "line 1: write IMAGE,CLASS", YS_EFORMAT},
        {"2.jpg,0\n\nno.jpg,1\n", "line 3: there is no file ", YS_ENOTFOUND},
        {"2.jpg,0\n3.jpg,65536\n", "lines/list.csv, line 2: ", YS_EFORMAT},
        {"2.jpg,0\n3.jpg,65536\n", "3.jpg: its class 65536 is out of range: classes are 0 to 65535", YS_EFORMAT},
        {"# all\n2.jpg,-1\n3.jpg,0\n", "lines/list.csv, line 2: ", YS_EFORMAT},
        {"# all\n2.jpg,-1\n3.jpg,0\n", "2.jpg: its class -1 is out of range: classes are 0 to 65535", YS_EFORMAT},
        {"2.jpg,-99999999999999999999\n3.jpg,0\n", "is out of range: classes are 0 to 65535", YS_EFORMAT},
        {"2.jpg,0\n3.jpg,99999999999999999999\n", "is out of range: classes are 0 to 65535", YS_EFORMAT},
        {"2.jpg,0\n3.jpg,2\n", "no image to train on is of class 1, and some are of class 2", YS_EFORMAT},
        {"# nothing\n", "has no images", YS_EFORMAT},
        {"\"2.jpg,0\n3.jpg,1\n", "line 1: a quote is not closed", YS_EFORMAT},
        {"2.jpg,0\n\"3.jpg\" x,1\n", "line 2: a quote is not closed in the line, or has text behind it", YS_EFORMAT},
        {"2.jpg,0\n\"3.jpg\",1,2\n", "line 2: write IMAGE,CLASS", YS_EFORMAT},
        {"2.jpg,0\nimage,label\n", "line 2: there is no file ", YS_ENOTFOUND},
        {"label,image\n0,2.jpg\n", "line 1: there is no file ", YS_ENOTFOUND},
        {"2.jpg;0\n3.jpg;1\n", "line 1: write IMAGE,CLASS", YS_EFORMAT},
    };
    make("lines/1.jpg");
    make("lines/2.jpg");
    make("lines/3.jpg");
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        scratch_text("lines/list.csv", lists[i].text);
        refuses("lines/list.csv", lists[i].status, lists[i].words);
    }
    put_bytes("lines/list.csv",
              "\xFF\xFE"
              "2\0.\0j\0",
              8);
    refuses("lines/list.csv", YS_EFORMAT, "line 1: is no text of bytes, but of UTF-16 as it seems: save it as UTF-8");
    put_bytes("lines/list.csv", "2.jpg,0\n3\0.\0", 12);
    refuses("lines/list.csv", YS_EFORMAT, "line 2: is no text of bytes");
    scratch_text("lines/train.csv", "2.jpg,0\n3.jpg,1\n");
    scratch_text("lines/test.csv", "1.jpg,2\n");
    refuses("lines", YS_EFORMAT, "1.jpg: its class 2 is out of range: images to train on have 0 to 1");
    scratch_text("lines/test.csv", "\n1.jpg,-1\n");
    refuses("lines", YS_EFORMAT, "lines/test.csv, line 2: ");
}

static void its_sum_changes_with_what_it_holds(void)
{
    char before[YS_SHA256_TEXT];
    const char *image = scratch("whole/few/1.png");
    REQUIRE(look("whole") == YS_OK);
    strcpy(before, folder.hash);
    REQUIRE(look("whole") == YS_OK);
    CHECK_TEXT(folder.hash, before);
    const struct timespec times[] = {{.tv_sec = 5}, {.tv_sec = 5}};
    CHECK(utimensat(AT_FDCWD, image, times, 0) == 0);
    REQUIRE(look("whole") == YS_OK);
    CHECK(strcmp(folder.hash, before) != 0);
    strcpy(before, folder.hash);
    make("whole/few/3.png");
    REQUIRE(look("whole") == YS_OK);
    CHECK(strcmp(folder.hash, before) != 0);
}

static void names_of_sets_are_no_paths(void)
{
    CHECK(!ys_data_is_path(".", "digits"));
    make("digits/a/1.png");
    CHECK(!ys_data_is_path(scratch("."), "digits") && ys_data_is_path(scratch("."), "./digits"));
    make("photos/a/1.png");
    CHECK(ys_data_is_path(scratch("."), "photos") && !ys_data_is_path(scratch("."), "no-such"));
    CHECK(ys_data_is_path(".", "no/such") && !ys_data_is_path(".", ""));
}

TAP_MAIN(TAP_CASE(halves_are_taken_as_the_folder_has_them),
         TAP_CASE(without_halves_one_in_ten_of_each_class_is_to_test_on),
         TAP_CASE(halves_are_known_by_the_names_that_people_give_them), TAP_CASE(a_class_may_be_called_like_a_half),
         TAP_CASE(a_third_part_is_left_out_and_said), TAP_CASE(halves_that_cannot_be_told_are_refused),
         TAP_CASE(an_image_is_of_one_class_and_one_half), TAP_CASE(lists_are_read_as_programs_write_them),
         TAP_CASE(a_list_names_its_images_and_their_classes), TAP_CASE(tiny_imagenet_is_taken_as_it_is_unpacked),
         TAP_CASE(what_is_no_data_set_is_refused_with_its_path), TAP_CASE(a_link_in_a_circle_ends),
         TAP_CASE(lines_that_say_nothing_are_refused_with_their_number), TAP_CASE(its_sum_changes_with_what_it_holds),
         TAP_CASE(names_of_sets_are_no_paths))
