"""The attacks of src/robust against those of foolbox, torchattacks and pyautoattack: the same network, images and gradients, which are
PyTorch's in float32 on both sides. Each case prints what it found: the table of docs/robustness.md."""

import ctypes as C
import sys

import foolbox
import numpy
import torch
from pyautoattack import autopgd_base, fab_pt, square
import torchattacks

import tap

PIXELS, CLASSES, BATCH, SIDE = 144, 10, 50, 12
RESULT = [("attack", C.c_char_p), ("rows", C.c_int64), ("clean", C.c_int64), ("broken", C.c_int64), ("target", C.c_int64),
          ("blind", C.c_int64), ("p25", C.c_double), ("p50", C.c_double), ("p75", C.c_double), ("gradients", C.c_int64), ("queries", C.c_int64),
          ("attack_s", C.c_double), ("outcomes", C.c_char_p)]
LOGITS = C.CFUNCTYPE(C.c_int, C.c_void_p, C.POINTER(C.c_float), C.c_size_t, C.POINTER(C.c_float))
GRADIENT = C.CFUNCTYPE(C.c_int, C.c_void_p, C.POINTER(C.c_float), C.POINTER(C.c_float), C.c_size_t, C.POINTER(C.c_float),
                       C.POINTER(C.c_float))
JUDGE = C.CFUNCTYPE(C.c_int, C.c_void_p, C.POINTER(C.c_float), C.c_size_t, C.POINTER(C.c_double))


class Result(C.Structure):
    _fields_ = RESULT


class List(C.Structure):
    _fields_ = [("items", C.POINTER(Result)), ("count", C.c_size_t)]


class Robustness(C.Structure):
    _fields_ = [("rows", C.c_int64), ("clean", C.c_int64), ("attacks", List), ("robust", List), ("curve", List), ("alarms", List), ("corruptions", List),
                ("perturbation_p50", C.c_double), ("is_masked", C.c_bool)]


class Attack(C.Structure):
    _fields_ = [("kind", C.c_int), ("numbers", C.c_double * 3), ("was_taken", C.c_bool * 3)]


class Attacks(C.Structure):
    _fields_ = [("items", Attack * 16), ("count", C.c_size_t), ("corrupts", C.c_bool * 5)]


class Attacked(C.Structure):
    _fields_ = [("of", C.c_void_p), ("logits", LOGITS), ("gradient", GRADIENT), ("pixels", C.c_size_t), ("classes", C.c_size_t),
                ("batch", C.c_size_t), ("height", C.c_int64), ("width", C.c_int64), ("channels", C.c_int64)]


class Spec(C.Structure):
    _fields_ = [("attacks", Attacks), ("images", C.POINTER(C.c_float)), ("labels", C.POINTER(C.c_int64)), ("rows", C.c_size_t),
                ("restarts", C.c_size_t), ("seed", C.c_uint64), ("curve", C.POINTER(C.c_double)), ("curve_count", C.c_size_t),
                ("start", C.POINTER(C.c_float)), ("judge", JUDGE), ("judge_of", C.c_void_p), ("finished", C.c_void_p),
                ("finished_of", C.c_void_p), ("broken", C.c_void_p), ("broken_of", C.c_void_p), ("progress", C.c_void_p),
                ("progress_of", C.c_void_p)]


def made():
    """A network that tells ten noisy patterns apart, and 200 images that it is right on."""
    torch.manual_seed(1)
    torch.set_num_threads(1)
    net = torch.nn.Sequential(torch.nn.Conv2d(1, 8, 3, padding=1), torch.nn.ReLU(), torch.nn.MaxPool2d(2), torch.nn.Flatten(),
                              torch.nn.Linear(8 * 36, 32), torch.nn.ReLU(), torch.nn.Linear(32, CLASSES))
    patterns = torch.rand(CLASSES, 1, SIDE, SIDE)

    def images(count):
        labels = torch.randint(0, CLASSES, (count,))
        return (0.5 * patterns[labels] + 0.5 * torch.rand(count, 1, SIDE, SIDE)).clamp(0, 1), labels

    optimizer = torch.optim.Adam(net.parameters(), lr=0.003)
    for _ in range(200):
        x, y = images(64)
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()
    net.eval()
    x, y = images(300)
    with torch.no_grad():
        right = (net(x).argmax(1) == y).nonzero()[:200, 0]
    return net, x[right].contiguous(), y[right].contiguous()


class Ours:
    """Runs an attack of the library; what it makes is seen by the judge, whose third call is its."""

    def __init__(self, path, net):
        self.library, self.net, self.seen, self.is_plain = C.CDLL(path), net, [], False
        self.library.attack_by_word.restype = C.c_char_p
        sizes = list((C.c_size_t * 4).in_dll(self.library, "attack_sizes"))
        assert sizes == [C.sizeof(one) for one in (Attacked, Spec, Robustness, Result)], "a struct of attack.h is another one: %s" % sizes
        self.double = [p.detach().double() for p in net.parameters()]
        self.logits, self.gradient, self.judge = LOGITS(self.on_logits), GRADIENT(self.on_gradient), JUDGE(self.on_judge)

    def uniforms(self, name, count):
        values = (C.c_double * count)()
        self.library.attack_uniforms(C.c_uint64(0), name.encode(), C.c_size_t(count), values)
        return list(values)

    def images(self, pointer, count):
        return torch.from_numpy(numpy.ctypeslib.as_array(pointer, (count, 1, SIDE, SIDE)).copy())

    def on_logits(self, _, images, count, logits):
        with torch.no_grad():
            numpy.ctypeslib.as_array(logits, (count, CLASSES))[:] = self.net(self.images(images, count)).numpy()
        return 0

    def on_gradient(self, _, images, cotangent, count, logits, gradient):
        x = self.images(images, count).requires_grad_()
        z, c = self.net(x), torch.from_numpy(numpy.ctypeslib.as_array(cotangent, (count, CLASSES)).copy())
        if self.is_plain:  # foolbox's own: of the sum of cross-entropy, whose label is where the cotangent is below 0
            torch.nn.functional.cross_entropy(z, c.argmin(1), reduction="sum").backward()
        else:
            z.backward(c)
        numpy.ctypeslib.as_array(gradient, (count, 1, SIDE, SIDE))[:] = x.grad.numpy()
        if logits:
            numpy.ctypeslib.as_array(logits, (count, CLASSES))[:] = z.detach().numpy()
        return 0

    def on_judge(self, _, images, count, logits):
        x = self.images(images, count)
        self.seen.append(x)
        with torch.no_grad():
            z = torch.func.functional_call(self.net.double(), {}, (x.double(),))
            self.net.float()
        numpy.ctypeslib.as_array(logits, (count, CLASSES))[:] = z.numpy()
        return 0

    def run(self, words, x, y, start=None, is_plain=False):
        """(changed images, which are broken) of rows that are all right."""
        self.seen, self.is_plain = [], is_plain
        pixels, labels, found = x.numpy().copy(), y.numpy().copy(), Robustness()
        model = Attacked(None, self.logits, self.gradient, PIXELS, CLASSES, BATCH, SIDE, SIDE, 1)
        spec = Spec(images=pixels.ctypes.data_as(C.POINTER(C.c_float)), labels=labels.ctypes.data_as(C.POINTER(C.c_int64)),
                    rows=len(x), restarts=1, judge=self.judge)
        if start is not None:
            start = start.numpy().copy()
            spec.start = start.ctypes.data_as(C.POINTER(C.c_float))
        why = self.library.attack_by_word(words.encode(), C.byref(model), C.byref(spec), C.byref(found))
        if why:
            raise RuntimeError(why.decode())
        outcomes = found.attacks.items[0].outcomes.decode()
        self.library.attack_end(C.byref(found))
        return self.seen[2], torch.tensor([letter == "b" for letter in outcomes])


def norms(changed, x):
    return (changed - x).double().flatten(1).norm(dim=1)


def compare_bounded(ours, model, x, y):
    attacks = foolbox.attacks
    for words, attack, eps in (("fgsm(0.05)", attacks.LinfFastGradientAttack(), 0.05),
                               ("bim(0.05, 40, 0.005)", attacks.LinfBasicIterativeAttack(abs_stepsize=0.005, steps=40), 0.05)):
        _, theirs, broken = attack(model, x, y, epsilons=eps)
        plain, _ = ours.run(words, x, y, is_plain=True)
        _, own = ours.run(words, x, y)
        pixels, rows = int((plain != theirs).sum()), int((own != broken).sum())
        yield (pixels == 0, "%s with foolbox's cotangent has foolbox's pixels" % words, "%d of %d pixels differ" % (pixels, x.numel()))
        yield (rows <= len(x) // 200 and 0 < int(broken.sum()) < len(x), "%s has foolbox's outcomes" % words,
               "foolbox breaks %d of %d, here %d; %d differ" % (broken.sum(), len(x), own.sum(), rows))
    torch.manual_seed(5)
    _, _, broken = attacks.LinfPGD(abs_stepsize=0.005, steps=40)(model, x, y, epsilons=0.05)
    torch.manual_seed(5)
    start = torch.empty_like(x).uniform_(-0.05, 0.05)
    _, own = ours.run("pgd(0.05, 40, 0.005)", x, y, start=start)
    rows = int((own != broken).sum())
    yield (rows <= len(x) // 200, "pgd(0.05, 40, 0.005) from foolbox's start has its outcomes",
           "foolbox breaks %d of %d, here %d; %d differ" % (broken.sum(), len(x), own.sum(), rows))


def compare_smallest(ours, model, x, y):
    attacks = foolbox.attacks
    for words, attack, count, mean_bound, each_bound in (
            ("deepfool(50, 0.02)", attacks.L2DeepFoolAttack(steps=50, overshoot=0.02), 200, 0.001, 0.001),
            ("cw(6, 300)", attacks.L2CarliniWagnerAttack(binary_search_steps=6, steps=300), 40, 0.005, 0.03),
            ("ddn(100)", attacks.DDNAttack(steps=100), 200, 0.01, None)):
        _, theirs, broken = attack(model, x[:count], y[:count], epsilons=None)
        changed, own = ours.run(words, x[:count], y[:count])
        both = own & broken
        there, here = norms(theirs, x[:count])[both], norms(changed, x[:count])[both]
        mean, each = float(here.mean() / there.mean() - 1), float((here / there - 1).abs().max())
        rows = int((own != broken).sum())
        yield (rows <= count // 200 and abs(mean) <= mean_bound and (each_bound is None or each <= each_bound),
               "%s agrees with foolbox" % words,
               "foolbox %d of %d, L2 %.4f; here %d, L2 %.4f: %+.3f %%, an image by at most %.2f %%; %d outcomes differ" % (
                   broken.sum(), count, there.mean(), own.sum(), here.mean(), 100 * mean, 100 * each, rows))


def compare_pixels(ours, net, x, y):
    count = 60
    theirs = torchattacks.JSMA(net, theta=1.0, gamma=0.1)(x[:count], y[:count])
    changed, _ = ours.run("jsma(1, 0.1)", x[:count], y[:count])
    rows = int(((changed != theirs).flatten(1).any(1)).sum())
    yield (rows == 0, "jsma(1, 0.1) equals torchattacks image by image", "%d of %d images differ" % (rows, count))


def begun(attack, x, start):
    """An attack of pyautoattack whose runs begin where ours do."""
    rows, run = {image.numpy().tobytes(): i for i, image in enumerate(x)}, attack.attack_single_run
    attack.attack_single_run = lambda some, labels: run(
        some, labels, some + start[[rows[image.numpy().tobytes()] for image in some]])
    return attack


def with_our_lots(attack, ours, count):
    """Square of pyautoattack with the numbers that ours draws: the stripes of each row, then a square a query."""
    drawn = []  # of this query and what of it is not used yet: place, place, signs

    def signs(shape):
        if len(shape) == 4:  # rows, channels, 1, width
            values = [ours.uniforms("square stripes of row %d" % row, shape[1] * shape[3]) for row in range(count)]
        else:
            values = [drawn.pop(0) for _ in range(shape[0])]
        return torch.tensor(values, dtype=torch.float64).sub(0.5).sign().float().reshape(shape)

    def place(low, high):
        if not drawn:
            drawn.extend(ours.uniforms("square of query %d" % ours.query, 3))
            ours.query += 1
        return torch.tensor([int(low + (high - low) * drawn.pop(0))])

    ours.query, attack.random_choice, attack.random_int = 0, signs, place
    return attack


def compare_ensemble(ours, net, x, y):
    eps, count = 0.05, len(x)
    torch.manual_seed(7)
    start = 2 * torch.rand(x.shape) - 1
    start = eps * start / start.abs().flatten(1).max(1)[0].view(-1, 1, 1, 1)
    settings = {"eps": eps, "device": "cpu"}
    for words, attack in (("apgd-ce(0.05)", begun(autopgd_base.APGDAttack(net, loss="ce", **settings), x, start)),
                          ("apgd-t(0.05)", begun(autopgd_base.APGDAttack_targeted(net, **settings), x, start)),
                          ("fab-t(0.05)", fab_pt.FABAttack_PT(net, targeted=True, **settings)),
                          ("square(0.05, 1000)", with_our_lots(square.SquareAttack(net, n_queries=1000, **settings), ours, count))):
        theirs = attack.perturb(x, y)
        with torch.no_grad():
            broken = (net(theirs).argmax(1) != y) & ((theirs - x).abs().flatten(1).max(1)[0] <= eps + 1e-6)
        _, own = ours.run(words, x, y, start=start)
        rows = int((own != broken).sum())
        yield (rows <= count // 200 and 0 < int(broken.sum()) < count, "%s has pyautoattack's outcomes" % words,
               "pyautoattack breaks %d of %d, here %d; %d differ" % (broken.sum(), count, own.sum(), rows))


def cases():
    net, x, y = made()
    ours, model = Ours(sys.argv[1], net), foolbox.PyTorchModel(net, bounds=(0, 1))
    yield from compare_bounded(ours, model, x, y)
    yield from compare_smallest(ours, model, x, y)
    yield from compare_pixels(ours, net, x, y)
    yield from compare_ensemble(ours, net, x, y)


if __name__ == "__main__":
    sys.exit(tap.tell(cases(), always=True))
