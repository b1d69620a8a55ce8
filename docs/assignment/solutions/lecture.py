"""Solutions of the five exercises at the end of docs/attention.ipynb: they run in a cell below its last one."""


class NoChoice(RNNsearch):
    def context(self, s, h):
        alpha = torch.full((len(h),), 1 / len(h))
        return (alpha[:, None] * torch.stack(h)).sum(0), alpha


class OneWord(RNNsearch):
    def context(self, s, h):
        _, alpha = super().context(s, h)
        position = alpha.argmax()
        return h[position], torch.eye(len(h))[position]


class Blind(RNNsearch):
    def energy(self, s, annotation):
        return super().energy(torch.zeros_like(s), annotation)


class OneDirection(RNNsearch):
    def encode(self, x):
        h, summary = super().encode(x)
        n = len(h[0]) // 2
        return [torch.cat([annotation[:n], torch.zeros(n)]) for annotation in h], summary


for variant in (RNNsearch, NoChoice, OneWord, Blind, OneDirection):
    print(f"{variant.__name__:13} {-variant(weights, loaded.run.architecture).nll(x, y)[0]:9.2f}")

h, summary = model.encode(x)
s, previous = model.first_state(summary), torch.zeros_like(embedded[0])
translated_ids = []
while len(translated_ids) < 50:
    c, _ = model.context(s, h)
    word = model.output(s, previous, c).argmax().item()
    if [word] == END:
        break
    translated_ids.append(word)
    new_word = model.embed("target", word)
    _, s = model.decoder_step(s, previous, new_word, c)
    previous = new_word
print(translated_ids == y[:-1])

# In the demo's model, 2 costs almost nothing: a word depends on one source word, as the matrix shows. 1, 3 and 4
# make the translation improbable. In 1 and 3 each step sees the same mixture of the sentence, so the model of 3
# has one vector for all words, a weighted mean. In 4 an annotation does not depend on the words after its own.
# 5 finds the same sentence.
