"""What the adapters made wrong on purpose have in common."""


def one_of(right, wrong):
    """An adapter like `right` that becomes the one of `wrong`, {name: class}, which its option names."""

    class Wrong(right):
        options = dict(right.options, wrong="nothing")

        def build(self, plan):
            self.options = Wrong.options
            self.__class__ = wrong[self.option("wrong")]
            return self.build(plan)

    return Wrong
