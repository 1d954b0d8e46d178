"""LeNet in PyTorch, as in "Training a classifier" of its tutorials."""
import prepared
import torch
from torch import nn

images, labels, order, threads = prepared.arguments()
torch.set_num_threads(threads)
images, labels = torch.from_numpy(images.copy()), torch.from_numpy(labels.copy())

net = nn.Sequential(
    nn.Conv2d(1, 32, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
    nn.Flatten(), nn.Linear(3136, 1024), nn.ReLU(), nn.Linear(1024, 10))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(net.parameters(), lr=prepared.LR, momentum=prepared.MOMENTUM)


def step(rows):
    rows = torch.from_numpy(rows.astype("int64"))
    inputs = images[rows].float() / 255
    optimizer.zero_grad()
    loss = criterion(net(inputs), labels[rows])
    loss.backward()
    optimizer.step()
    return loss.detach()


prepared.train(order, step, lambda losses: sum(loss.item() for loss in losses) / len(losses))
