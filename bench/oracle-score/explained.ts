import type { Finding } from './score.ts'

interface Reason {
  readonly operation: RegExp
  /** Status of the answer that was changed. */
  readonly status: RegExp
  readonly change: RegExp
  readonly why: string
}

const oneOfSeveral =
  'one of several requests sent until the limit shows (scenario with `repeat`): the first that is refused is judged'

const reasons: readonly Reason[] = [
  {
    operation: /^chat\.create$/,
    status: /^2/,
    change: /./,
    why: 'generated answers vary: a granted chat gets three tries, and the next one was right',
  },
  {
    operation: /^(chat|completion)\.create$/,
    status: /^[45]/,
    change: /^status changed/,
    why: '§7.4 gives model errors no status of their own',
  },
  { operation: /./, status: /^50[03]$/, change: /^body replaced: an envelope$/, why: 'the envelope that is asked for' },
  {
    operation: /^chat\.create$/,
    status: /^401$/,
    change: /./,
    why: 'a path that leads to the same operation (§4): any 4xx refuses a request without a key there',
  },
  {
    operation: /^graphs\.add-file$/,
    status: /^409$/,
    change: /^status changed/,
    why: 'a preparation of `2xx-other-graph`, which waits for a 409; `409-already-in-graph` judges another such answer',
  },
  { operation: /^jobs\.retrieve$/, status: /^4/, change: /^status changed: 4/, why: 'any 4xx: §4.3 names none' },
  { operation: /^files\.list$/, status: /^429$/, change: /./, why: oneOfSeveral },
  {
    operation: /^jobs\.create$/,
    status: /^409$/,
    change: /^status changed/,
    why: 'creations at the same time: §8 asks only that no two jobs are in progress, and the others were refused',
  },
  {
    operation: /^jobs\.create$/,
    status: /^202$/,
    change: /./,
    why: 'an input of any text: `202-any-text` asks for no 5xx; shapes are judged on all other creations',
  },
]

/** Why the spec leaves such a change open at that place; empty if no reason is known. */
export function explain({ operation, status, name }: Finding): string {
  const fits = (reason: Reason): boolean =>
    reason.operation.test(operation) && reason.status.test(String(status)) && reason.change.test(name)
  return reasons.find(fits)?.why ?? ''
}
