import { catalogue } from '../../catalogue/catalogue.ts'
import { defects } from '../../reference/server.ts'

/** Requirements that a switch turns red besides the one that it is named after, and why they cannot stay green. */
export interface AlsoRed {
  readonly ids: readonly string[]
  /** Red only if what the suite sends comes in a certain order. */
  readonly inSomeOrders?: readonly string[]
  readonly because: string
}

const refusedWith401 = catalogue.map(({ id }): string => id).filter((id) => id.includes('/401-'))

const noType = {
  ids: refusedWith401,
  because: 'a 401 that names no type is none that they ask for',
}
const page = {
  ids: ['envelope/content-type'],
  because: 'what is no JSON cannot be labelled as such',
}
const lostJob = {
  ids: ['jobs.retrieve/200-job'],
  because: 'a job that cannot be found is not read with 200 either',
}
const otherId = {
  ids: ['jobs.retrieve/200-identity'],
  because: 'the two responses name one job differently',
}
/** §2.3: what a job says does not fit its status, or its time. */
const contradicts = (because: string, ids: readonly string[] = []): AlsoRed => ({
  ids,
  inSomeOrders: ['jobs.retrieve/200-consistent'],
  because,
})
const earlyMember = contradicts('a job in progress has that member too')
const otherTime = contradicts('the job ended before the time that it gives for its creation')
const progressAgain = contradicts('a job that is in progress again keeps what ended jobs have')
const errorMember = {
  ids: ['jobs.retrieve/200-failed'],
  because: 'the error of a failed job is what is no string',
}
const allAtOnce = {
  ids: ['jobs.create/409-atomic'],
  because: 'concurrent creations all come before it begins to look at the job in progress',
}
const otherJob = {
  ids: ['jobs.retrieve/200-created-at', 'jobs.retrieve/200-stable'],
  because: 'what an id shows is another job, with times and a status of its own',
}
const noContent = {
  ids: ['pdf.parse/200-content'],
  because: 'it needs the content in either format',
}
const noRetrieval = {
  ids: ['files.upload/2xx-retrievable'],
  because: 'no file is retrieved, an uploaded one neither',
}
const crash = { ids: ['envelope/bad-input-no-5xx'], because: 'the suite made that input' }

/** By switch. What does not stand here turns its own requirement red and nothing else. */
export const alsoRed: Readonly<Record<string, AlsoRed>> = {
  'jobs.create/202-created': {
    ids: ['jobs.create/202-required-inputs-only'],
    because: 'every creation is answered with that other status',
  },
  'jobs.create/202-created#answer-lost': {
    ids: ['jobs.create/202-required-inputs-only'],
    because: 'no creation is ever answered',
  },
  'envelope/shape#no-tpe': noType,
  'envelope/shape#tpe-number': noType,
  'envelope/shape#array': noType,
  'envelope/status-tpe-pair#file': {
    ids: ['files.retrieve/404-unknown-file'],
    because: 'the wrong type is given where that one asks for a certain one',
  },
  ...Object.fromEntries(
    ['#no-answer', '#closed', '#no-http'].map((name) => [
      `jobs.create/400-missing-inputs${name}`,
      {
        ids: ['jobs.create/bad-input-no-5xx'],
        because: 'a body without inputs is among the bad input that it sends',
      },
    ]),
  ),
  ...Object.fromEntries(
    ['', '#one-path', '#upload'].map((name) => [
      `envelope/large-body${name}`,
      { ids: ['envelope/shape', 'envelope/content-type'], because: 'a page is no envelope' },
    ]),
  ),
  'jobs.create/409-job-in-progress#at-once-only': {
    ids: [],
    inSomeOrders: ['jobs.create/409-atomic'],
    because: 'over a slow network creations that are sent at once come one after the other',
  },
  ...Object.fromEntries(
    ['graphs', 'applications'].map((objects) => [
      `${objects}.create/400-duplicate-name#latest-only`,
      {
        ids: [],
        inSomeOrders: [`${objects}.create/400-atomic`],
        because:
          'over a slow network another creation may come between those that are sent at once',
      },
    ]),
  ),
  'completion.create/400-wrong-content-type#spoils-connection': {
    ids: [],
    inSomeOrders: ['completion.create/bad-input-no-5xx'],
    because:
      'a body without a label is among the bad input that it sends, and spoils its connection as well',
  },
  'jobs.create/400-malformed-json#spoils-connection': {
    ids: ['jobs.create/bad-input-no-5xx'],
    because:
      'bodies that are no JSON are among the bad input that it sends, and spoil their connections as well',
  },
  'envelope/unknown-path#page': page,
  'envelope/unknown-path#empty': page,
  'envelope/unsupported-method#page': page,
  'envelope/unsupported-method#empty': page,
  'envelope/bad-input-no-5xx': {
    ids: ['pdf.parse/400-malformed-format', 'pdf.parse/bad-input-no-5xx'],
    because: 'the 500 stands where that one asks for a 400',
  },
  'envelope/bad-input-no-5xx#text': {
    ids: ['ai-detect.run/400-malformed-text', 'ai-detect.run/bad-input-no-5xx'],
    because: 'the 500 stands where that one asks for a 400',
  },
  ...Object.fromEntries(
    catalogue
      .filter(({ id }) => id.endsWith('/4xx-malformed-body'))
      .map(({ id, operation }) => [
        `${id}#5xx`,
        ['pdf.parse', 'chat.create'].includes(operation)
          ? { ids: [...crash.ids, `${operation}/bad-input-no-5xx`], because: crash.because }
          : crash,
      ]),
  ),
  ...Object.fromEntries(
    defects
      .filter((name) => /^(?!envelope).*\/bad-input-no-5xx(?:#|$)/.test(name))
      .map((name) => [name, crash]),
  ),
  'files.upload/4xx-unknown-graph#5xx': crash,
  ...Object.fromEntries(
    defects
      .filter((name) => name.startsWith('jobs.create/202-any-text'))
      .map((name) => [name, crash]),
  ),
  ...Object.fromEntries(
    catalogue
      .filter(({ id }) => /\/4xx-(?:missing-member|unknown-file)$/.test(id))
      .filter(({ operation }) => operation !== 'pdf.parse')
      .map(({ id, operation }) => [
        `${id}#5xx`,
        { ...crash, ids: [...crash.ids, `${operation}/bad-input-no-5xx`] },
      ]),
  ),
  ...Object.fromEntries(
    [
      ...['translate.run#empty-body', 'web-search.run#absent-member'],
      ...['graphs.add-file#unknown-id', 'graphs.add-file#deleted-id'],
      ...['vision.analyze#unknown-id', 'vision.analyze#deleted-id', 'vision.analyze#later-item'],
      'completion.create#zero',
    ].map((name) => {
      const [operation = '', kind = ''] = name.split('#')
      const id = kind.endsWith('-id')
        ? '4xx-unknown-file'
        : kind === 'later-item' || kind === 'zero'
          ? '400-malformed-request'
          : '4xx-missing-member'
      return [
        `${operation}/bad-input-no-5xx#${kind}`,
        { ids: [...crash.ids, `${operation}/${id}`], because: 'a 5xx is none of the 4xx either' },
      ]
    }),
  ),
  'graphs.add-file/409-already-in-graph#latest-only': {
    ids: [],
    inSomeOrders: ['files.upload/2xx-attached-to-graph'],
    because: 'a graph that knows the latest file alone forgets what was attached to it as well',
  },
  'graphs.create/2xx-usable#asked-twice': {
    ids: [],
    inSomeOrders: ['graphs.add-file/409-already-in-graph'],
    because: 'a graph that is gone once its name is asked for again takes no files',
  },
  'files.list/2xx-file-types#unknown-5xx': crash,
  'files.list/2xx-file-types#none-5xx': crash,
  'jobs.retrieve/4xx-malformed-id#5xx': crash,
  'jobs.create/202-retrievable': lostJob,
  'jobs.create/202-retrievable#late': lostJob,
  'jobs.create/202-created#id': otherId,
  'jobs.retrieve/200-job#id': otherId,
  'jobs.create/409-job-in-progress#parallel': {
    ids: ['jobs.create/409-atomic'],
    because: 'without any check concurrent creations are all granted',
  },
  'jobs.create/409-job-in-progress#later-only': allAtOnce,
  'jobs.create/409-job-in-progress#read-only': allAtOnce,
  'jobs.create/409-job-in-progress#identical-only': {
    ids: ['jobs.create/409-atomic'],
    because: 'of concurrent creations those with other inputs are granted',
  },
  'jobs.create/409-job-in-progress#slow-only': {
    ids: ['jobs.create/409-atomic'],
    because: 'concurrent creations on the plain application are all granted',
  },
  'jobs.create/409-job-in-progress#plain-only': {
    ids: ['jobs.create/409-atomic'],
    because: 'concurrent creations are looked at on the slow application, which never refuses one',
  },
  'jobs.create/409-job-in-progress#answered-again': {
    ids: ['jobs.retrieve/200-identity'],
    inSomeOrders: ['jobs.retrieve/200-created-at'],
    because: 'several creations give the id, and the time, of one job',
  },
  'jobs.retrieve/200-identity#newest-only': {
    ids: ['jobs.retrieve/200-stable'],
    inSomeOrders: ['jobs.retrieve/200-job'],
    because:
      'an older job that ended cannot be read again, the declared one neither if it is read after newer ones',
  },
  ...Object.fromEntries(
    ['graphs.create', 'applications.create'].map((operation) => [
      `${operation}/400-duplicate-name`,
      {
        ids: [`${operation}/400-atomic`],
        because: 'without any check creations at once are all granted',
      },
    ]),
  ),
  ...Object.fromEntries(
    [
      ['graphs.create/400-duplicate-name', 'graphs.create/400-atomic'],
      ['applications.create/400-duplicate-name', 'applications.create/400-atomic'],
    ].map(([id, atomic = '']) => [
      `${id}#third`,
      { ids: [atomic], because: 'of four at once the third is granted, too' },
    ]),
  ),
  'graphs.add-file/409-already-in-graph#third': {
    ids: [],
    inSomeOrders: ['graphs.add-file/409-atomic'],
    because:
      'of four at once the third is granted, too, but four in a row have to be refused before that is judged',
  },
  'graphs.add-file/409-already-in-graph#few-known': {
    ids: [],
    inSomeOrders: ['graphs.add-file/2xx-other-graph'],
    because:
      'others that are added meanwhile make the graph forget a file that is added to another one',
  },
  'jobs.retrieve/200-identity#one-id': otherJob,
  'jobs.retrieve/200-identity#newest-job': otherJob,
  'jobs.retrieve/200-created-at#newest-job': {
    ids: ['jobs.retrieve/200-identity', 'jobs.retrieve/200-stable'],
    because: 'an ended job has the result of a newer one, and reads as in progress again',
  },
  'jobs.retrieve/200-identity#newest-data': {
    ids: ['jobs.retrieve/200-stable'],
    because: 'an ended job does not read the same again once it has the result of a newer one',
  },
  ...Object.fromEntries(
    ['200-text', '200-markdown'].flatMap((row) =>
      ['', '#missing', '#status', '#no-answer', '#closed', '#no-http'].map((name) => [
        `pdf.parse/${row}${name}`,
        noContent,
      ]),
    ),
  ),
  ...Object.fromEntries(
    ['#no-answer', '#closed', '#no-http'].map((name) => [
      `pdf.parse/200-markdown${name}`,
      {
        ids: noContent.ids,
        inSomeOrders: ['corrupted', 'encrypted', 'oversized'].map(
          (kind) => `pdf.parse/400-${kind}-pdf`,
        ),
        because:
          'nothing that asks for markdown is answered, whatever the file is, until nothing is asked any more',
      },
    ]),
  ),
  ...Object.fromEntries(
    ['', '#envelope'].map((name) => [`files.retrieve/2xx-accepted${name}`, noRetrieval]),
  ),
  ...Object.fromEntries(
    ['#no-answer', '#closed', '#no-http'].map((name) => [
      `files.retrieve/2xx-accepted${name}`,
      {
        ids: [],
        inSomeOrders: noRetrieval.ids,
        because: 'an uploaded file is not retrieved either, as long as any is still asked for',
      },
    ]),
  ),
  'graphs.add-file/2xx-accepted#always-409': {
    ids: ['graphs.add-file/2xx-other-graph'],
    because: 'what every addition is answered, that to a second graph is answered too',
  },
  'jobs.retrieve/200-job#error': contradicts(errorMember.because, errorMember.ids),
  'jobs.retrieve/200-job#completed-at': earlyMember,
  'jobs.retrieve/200-job#data': earlyMember,
  'jobs.retrieve/200-job#data-array': earlyMember,
  'jobs.retrieve/200-created-at': otherTime,
  'jobs.retrieve/200-created-at#same-for-all': otherTime,
  'jobs.retrieve/200-created-at#backwards': otherTime,
  'jobs.retrieve/200-created-at#other-application': otherTime,
  'jobs.retrieve/200-created-at#slow-application': otherTime,
  'jobs.retrieve/200-stable#status': progressAgain,
  'jobs.retrieve/200-stable#newest-status': progressAgain,
  'jobs.retrieve/200-job#null-members': errorMember,
  'jobs.retrieve/200-job#ended-status': {
    ids: ['jobs.retrieve/200-outcome'],
    because: 'a status of its own is neither completed nor failed',
  },
  'jobs.retrieve/200-created-at#drifting': contradicts(
    'created_at is among what must read the same again, and drifts past the end of the job',
    ['jobs.retrieve/200-stable'],
  ),
  'jobs.retrieve/200-failed#error': {
    ids: ['jobs.retrieve/200-job'],
    because: 'the error of a job is a string in every state',
  },
}

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
