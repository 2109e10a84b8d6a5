import { catalogue } from '../../catalogue/catalogue.ts'
import { defects } from '../../reference/server.ts'

/** Requirements that a switch turns red besides the one that it is named after, and why they cannot stay green. */
export interface AlsoRed {
  readonly ids: readonly string[]
  /** Red only if what the suite sends comes in a certain order. */
  readonly inSomeOrders?: readonly string[]
  readonly because: string
}

type Row = readonly [
  switches: readonly string[],
  because: string,
  ids: readonly string[],
  inSomeOrders?: readonly string[],
]

/** Switches of one requirement. */
const of = (id: string, ...kinds: readonly string[]): string[] => kinds.map((kind) => id + kind)
const named = (pattern: RegExp): string[] => defects.filter((name) => pattern.test(name))
const rows = (pattern: RegExp) => catalogue.filter(({ id }) => pattern.test(id))

const lost = ['#no-answer', '#closed', '#no-http']
const crash = 'envelope/bad-input-no-5xx'
const itsInput = 'the suite made that input'
const answer500 = 'the 500 comes where that one asks for a 400'
const early = 'a job in progress has that member too'
const otherTime = 'the job ended before the time that it gives for its creation'
const otherJob = 'what an id shows is another job, with times and a status of its own'
const none: readonly string[] = []

// Of jobs, by the last part of the id.
const creation = (...names: string[]) => names.map((name) => `jobs.create/${name}`)
const reading = (...names: string[]) => names.map((name) => `jobs.retrieve/200-${name}`)
const inProgress = 'jobs.create/409-job-in-progress'
const atomic = creation('409-atomic')
/** §2.3: what a job says does not fit its status, or its time. */
const consistent = reading('consistent')

const table: readonly Row[] = [
  [
    of('jobs.create/202-created', ''),
    'every creation gets that other status',
    creation('202-required-inputs-only'),
  ],
  [
    of('jobs.create/202-created', '#answer-lost'),
    'no creation is ever answered',
    creation('202-required-inputs-only'),
  ],
  [
    of('jobs.create/202-created', ...lost),
    'no creation is answered, as long as any is still asked for',
    none,
    creation('202-required-inputs-only'),
  ],
  [
    of('envelope/shape', '#no-tpe', '#array'),
    'a 401 without a type is not what they ask for',
    rows(/\/401-/).map(({ id }) => id),
  ],
  [
    of('envelope/status-tpe-pair', '#file'),
    'the wrong type is given where that one asks for a certain one',
    ['files.retrieve/404-unknown-file'],
  ],
  [
    of('envelope/large-body', '', '#one-path', '#upload'),
    'a page is no envelope',
    ['envelope/shape', 'envelope/content-type'],
  ],
  [
    [
      ...of('envelope/unknown-path', '#page', '#empty'),
      ...of('envelope/unsupported-method', '#page', '#empty'),
    ],
    'what is not JSON cannot be labelled as such',
    ['envelope/content-type'],
  ],

  // What breaks on bad input.
  [[crash], answer500, of('pdf.parse/', '400-malformed-format', 'bad-input-no-5xx')],
  [[`${crash}#text`], answer500, of('ai-detect.run/', '400-malformed-text', 'bad-input-no-5xx')],
  [
    [
      ...named(/^(?!envelope).*\/bad-input-no-5xx(?:#|$)|^jobs\.create\/202-any-text/),
      ...of('files.list/2xx-file-types', '#unknown-5xx'),
    ],
    itsInput,
    [crash],
  ],
  [
    ['completion.create/400-wrong-content-type#spoils-connection'],
    'a body without a label is among the bad input that it sends, and spoils its connection as well',
    none,
    ['completion.create/bad-input-no-5xx'],
  ],
  [
    creation('400-malformed-json#spoils-connection'),
    'bodies that are not JSON are among the bad input that it sends, and spoil their connections as well',
    creation('bad-input-no-5xx'),
  ],

  [
    creation('4xx-no-effect#unknown'),
    'every application is blocked for a while, the other one beside a job in progress as well',
    none,
    creation('409-per-application'),
  ],

  // What is created at once, or twice.
  [
    of(inProgress, '#at-once-only'),
    'over a slow network creations that are sent at once come one after the other',
    none,
    atomic,
  ],
  [of(inProgress, '#parallel'), 'without any check concurrent creations are all granted', atomic],
  [
    of(inProgress, '#later-only', '#read-only'),
    'concurrent creations all come before it begins to look at the job in progress',
    atomic,
  ],
  [
    of(inProgress, '#identical-only'),
    'of concurrent creations those with other inputs are granted',
    atomic,
  ],
  [
    of(inProgress, '#slow-only'),
    'concurrent creations on the plain application are all granted',
    atomic,
  ],
  [
    of(inProgress, '#plain-only'),
    'concurrent creations are looked at on the slow application, which never refuses one',
    atomic,
  ],
  [
    of(inProgress, '#answered-again'),
    'several creations give the id, and the time, of one job',
    reading('identity'),
    reading('created-at'),
  ],
  ...['graphs.create', 'applications.create'].flatMap((operation): Row[] => [
    [
      [`${operation}/400-duplicate-name`],
      'without any check creations at once are all granted',
      [`${operation}/400-atomic`],
    ],
    [
      [`${operation}/400-duplicate-name#third`],
      'of four at once the third is granted, too',
      [`${operation}/400-atomic`],
    ],
    [
      [`${operation}/400-duplicate-name#latest-only`],
      'over a slow network another creation may come between those that are sent at once',
      none,
      [`${operation}/400-atomic`],
    ],
  ]),
  [
    ['graphs.create/2xx-usable#asked-twice'],
    'a graph that is gone once its name is asked for again takes no files',
    none,
    ['graphs.add-file/409-already-in-graph'],
  ],
  ...[
    [
      '#latest-only',
      'files.upload/2xx-attached-to-graph',
      'a graph that knows the latest file alone forgets what was attached to it as well',
    ],
  ].map(([kind = '', id = '', because = '']): Row => [
    of('graphs.add-file/409-already-in-graph', kind),
    because,
    none,
    [id],
  ]),

  // What is read.
  [
    of('jobs.create/202-retrievable', '', '#late'),
    'a job that cannot be found is not read with 200 either',
    reading('job'),
  ],
  [
    ['jobs.create/202-created#id', 'jobs.retrieve/200-job#id'],
    'the two responses name one job differently',
    reading('identity'),
  ],
  [
    reading('identity#newest-only'),
    'an older job that ended cannot be read again, the declared one neither if it is read after newer ones',
    reading('stable'),
    reading('job'),
  ],
  [reading('identity#one-id', 'identity#newest-job'), otherJob, reading('created-at', 'stable')],
  [
    reading('created-at#newest-job'),
    'an ended job has the result of a newer one, and reads as in progress again',
    reading('identity', 'stable'),
  ],
  [
    reading('identity#newest-data'),
    'an ended job does not read the same again once it has the result of a newer one',
    reading('stable'),
  ],
  [
    reading('job#error'),
    'the error of a failed job is what is not a string',
    reading('failed'),
    consistent,
  ],
  [reading('job#data'), early, none, consistent],
  [
    of('jobs.retrieve/200-created-at', '', '#same-for-all', '#backwards'),
    otherTime,
    none,
    consistent,
  ],
  [
    reading('stable#status', 'stable#newest-status'),
    'a job that is in progress again keeps what ended jobs have',
    none,
    consistent,
  ],
  [
    reading('created-at#drifting'),
    'created_at is among what must read the same again, and drifts past the end of the job',
    reading('stable'),
    consistent,
  ],
  [
    reading('job#ended-status'),
    'a status of its own is neither completed nor failed',
    reading('outcome'),
  ],
  [
    [
      ...of('pdf.parse/200-text', '', '#status', ...lost),
      ...of('pdf.parse/200-markdown', '', '#status'),
    ],
    'it needs the content in either format',
    ['pdf.parse/200-content'],
  ],
  [
    of('pdf.parse/200-text', '#every-third'),
    'every third PDF breaks the server, whatever is asked of it',
    none,
    of('pdf.parse/', '200-markdown', '200-content'),
  ],
  [
    of('pdf.parse/200-markdown', ...lost),
    'nothing that asks for markdown is answered, whatever the file is, until nothing is asked any more',
    ['pdf.parse/200-content'],
    ['corrupted', 'encrypted', 'oversized'].map((kind) => `pdf.parse/400-${kind}-pdf`),
  ],
  [
    of('files.retrieve/2xx-accepted', '', '#envelope'),
    'no file is retrieved, an uploaded one neither',
    ['files.upload/2xx-retrievable'],
  ],
  [
    of('files.retrieve/2xx-accepted', ...lost),
    'an uploaded file is not retrieved either, as long as any is still asked for',
    none,
    ['files.upload/2xx-retrievable'],
  ],
]

/** By switch. What does not stand here turns its own requirement red and nothing else. */
export const alsoRed: Readonly<Record<string, AlsoRed>> = Object.fromEntries(
  table.flatMap(([switches, because, ids, inSomeOrders = none]) =>
    switches.map((name): [string, AlsoRed] => [name, { ids, inSomeOrders, because }]),
  ),
)

/** The requirement that a switch is named after. */
export function ownId(defect: string): string {
  return defect.replace(/#.*/, '')
}

/** The requirements that are red under a switch, in some orders at least; no other is. */
export function redUnder(defect: string): readonly string[] {
  return [...surelyRedUnder(defect), ...(alsoRed[defect]?.inSomeOrders ?? [])]
}

/** Those that are red in any order. */
export function surelyRedUnder(defect: string): readonly string[] {
  return [ownId(defect), ...(alsoRed[defect]?.ids ?? [])]
}
