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

const aBusyApplication = 'the application is busy: it is asked again once it is idle, since somebody else may use it'
const ownRows = 'sent to see whether a refused creation has an effect; what it is answered is judged by rows of its own'

const reasons: readonly Reason[] = [
  {
    operation: /^pdf\.parse$/,
    status: /^200$/,
    change: /^content (cut|emptied|replaced)$/,
    why: 'any text (§2.2): only `200-content` knows what the file holds',
  },
  {
    operation: /^graphs\.query$/,
    status: /^2/,
    change: /again: 403 InsufficientAccessRights$|^done, and refused as the last that was$/,
    why: 'a key that lacks the right proves nothing: the row is not exercised and says so',
  },
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
    operation: /^(chat\.create|vision\.analyze)$/,
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
    operation: /^(applications|files|graphs)\./,
    status: /^[45]/,
    change: /^refused, and done all the same$/,
    why: 'no operation shows what a refused creation made (§4), and a file that is added again changes nothing',
  },
  {
    operation: /^(applications\.create|files\.upload|graphs\.create|graphs\.add-file)$/,
    status: /^2/,
    change: /^(granted, and not done|the answer for another object.*|id \w+)$/,
    why: 'one object of each kind is used after its creation (`2xx-usable`, `2xx-retrievable`, `409-already-in-graph`); this is another',
  },
  {
    operation: /./,
    status: /^400$/,
    change: /again: 400 (BadRequest|InvalidContentType|InvalidInputParameters)$/,
    why: 'another type that the row takes as well (malformed JSON, wrong content type, bad encoding)',
  },
  {
    operation: /./,
    status: /^401$/,
    change: /again: 401 BadCredentials$/,
    why: 'another type that the row takes as well (an invalid key)',
  },
  {
    operation: /^(files\.list|web-search\.run)$/,
    status: /^2/,
    change: /^(done, and 500|body replaced: an envelope)$|again: 4/,
    why: 'the first request of a run, which any answer will do for, or one that waits until a scenario is over',
  },
  {
    operation: /^files\.list$/,
    status: /^2/,
    change: /^done, and no answer$/,
    why: 'the first request of a run: a target that does not answer it is not judged at all (exit code 3)',
  },
  {
    operation: /^(applications|graphs)\.create$/,
    status: /^0$/,
    change: /^malformed JSON/,
    why: 'the name of what was granted last exists: the answer is 400 all the same',
  },
  {
    operation: /./,
    status: /^2/,
    change: /^the answer before it, again$/,
    why: 'payloads of §4.4 are not shown',
  },
  {
    operation: /^graphs\.add-file$/,
    status: /^(200|409)$/,
    change: /^(granted|done|the answer before it|body replaced: an envelope$)/,
    why: 'an addition is asked for again until `settleMs` have passed, and preparations leave their row not exercised',
  },
  { operation: /^jobs\.create$/, status: /^(202|40[01])$/, change: /: 409 BadRequest$/, why: aBusyApplication },
  { operation: /^jobs\.create$/, status: /^40[01]$/, change: /: 202$|^status changed/, why: ownRows },
  {
    operation: /^jobs\.retrieve$/,
    status: /^200$/,
    change: /^done, and|again: 4/,
    why: 'before it was read once, a new job may take `settleMs` until it can be read',
  },
  {
    operation: /^jobs\.retrieve$/,
    status: /^200$/,
    change: /again: 200$/,
    why: 'the same job a moment ago, when it had not ended',
  },
  {
    operation: /^jobs\.create$/,
    status: /^409$/,
    change: /^(status changed|granted|the answer before it)/,
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
