import { fixture, type Pair } from '../declared/scenarios.ts'
import {
  plainJob,
  ownAccount,
  type Application,
  type Graph,
  type Job,
  type Store,
  type StoredFile,
  countUp,
} from './world.ts'
import type { Call } from './call.ts'

export const preloadedIds = {
  application: '6b1f0c52-3a54-4f0e-9d0c-0c8e5a1d1001',
  otherApplication: '6b1f0c52-3a54-4f0e-9d0c-0c8e5a1d1002',
  slowApplication: '6b1f0c52-3a54-4f0e-9d0c-0c8e5a1d1003',
  failingApplication: '6b1f0c52-3a54-4f0e-9d0c-0c8e5a1d1004',
  foreignApplication: '6b1f0c52-3a54-4f0e-9d0c-0c8e5a1d1005',
  job: '2e8d7a10-6c0b-4b9f-8f2d-5d3c9b7e2001',
  foreignJob: '2e8d7a10-6c0b-4b9f-8f2d-5d3c9b7e2002',
  pdfFile: '9c4e2f86-1d7a-4c3b-a5e8-7f60b2d93005',
} as const

const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=='

function shared(make: () => Uint8Array): () => Uint8Array {
  let bytes: Uint8Array | undefined
  return () => (bytes ??= make())
}

const goodPdf = shared(() => fixture('pdf/good.pdf'))
const corruptedPdf = shared(() => fixture('pdf/corrupted.pdf'))
const encryptedPdf = shared(() => fixture('pdf/encrypted.pdf'))
const bigPdf = shared(() => Buffer.concat([goodPdf(), Buffer.alloc(pdfLimit, ' ')]))
const text = shared(() => Buffer.from('Tea leaves unfold slowly in hot water.\n'))
const image = shared(() => Buffer.from(png, 'base64'))
const bigImage = shared(() => Buffer.concat([image(), Buffer.alloc(imageLimit)]))
const damagedImage = shared(() => image().slice(1))

type FileRow = readonly [
  id: string,
  name: string,
  type: string,
  bytes: () => Uint8Array,
  rest?: Partial<StoredFile>,
]

const fileId = (number: string): string => `9c4e2f86-1d7a-4c3b-a5e8-7f60b2d93${number}`
const neighbour = { account: 'neighbour' }
const pdf = 'application/pdf'

const files: readonly FileRow[] = [
  // File ids may have any form: this one is not a uuid.
  ['file_tea_1d7a4c3ba5e8', 'tea.txt', 'text/plain', text],
  [fileId('002'), 'deleted.pdf', pdf, goodPdf, { state: 'deleted' }],
  [fileId('003'), 'expired.txt', 'text/plain', text, { state: 'expired' }],
  [fileId('004'), 'foreign.pdf', pdf, goodPdf, neighbour],
  [preloadedIds.pdfFile, 'good.pdf', pdf, goodPdf],
  [fileId('006'), 'corrupted.pdf', pdf, corruptedPdf],
  [fileId('007'), 'encrypted.pdf', pdf, encryptedPdf],
  [fileId('008'), 'oversized.pdf', pdf, bigPdf],
  [fileId('009'), 'program.exe', 'application/x-msdownload', text],
  [fileId('010'), 'pixel.png', 'image/png', image],
  [fileId('011'), 'oversized.png', 'image/png', bigImage],
  [fileId('012'), 'corrupted.png', 'image/png', damagedImage],
  [fileId('013'), 'foreign.png', 'image/png', image, neighbour],
]

const inputs = [
  { id: 'topic', required: true },
  { id: 'tone', required: false },
]

function byId<Row extends { readonly id: string }>(rows: readonly Row[]): Map<string, Row> {
  return new Map(rows.map((row) => [row.id, row]))
}

/** Fills a new server's store. `now`: ms since the epoch. */
export function preloadedStore(now: number): Store {
  const file = ([id, name, type, bytes, rest]: FileRow): StoredFile => {
    return { id, name, type, bytes, account: ownAccount, state: 'stored', createdAt: now, ...rest }
  }
  const graph = (id: string, name: string, account: string): Graph => {
    return { id, name, account, version: '"1"', files: new Map(), createdAt: now }
  }
  const application = (id: string, name: string, rest: Partial<Application> = {}): Application => {
    const plain = { account: ownAccount, isSlow: false, fails: false, jobs: 0 } as const
    return { id, name, inputs, createdAt: now, ...plain, ...rest }
  }
  const ended = { createdAt: now - 60_000, updatedAt: now - 59_000, completedAt: now - 59_000 }
  const data = { title: 'About tea', suggestion: 'Begin with the leaf.' }
  const job = (id: string, account: string, applicationId: string): Job =>
    plainJob({ id, account, applicationId, ...ended, takes: 1000, status: 'completed', data })
  return {
    files: byId(files.map(file)),
    graphs: byId([
      graph('4d5a9e3c-8b21-47f6-b0d4-1e6f3c8a4001', 'Tea', ownAccount),
      graph('4d5a9e3c-8b21-47f6-b0d4-1e6f3c8a4002', 'Coffee', 'neighbour'),
    ]),
    applications: byId([
      application(preloadedIds.application, 'Writer'),
      application(preloadedIds.otherApplication, 'Second writer'),
      application(preloadedIds.slowApplication, 'Slow writer', { isSlow: true }),
      application(preloadedIds.failingApplication, 'Failing writer', { fails: true }),
      application(preloadedIds.foreignApplication, 'Foreign writer', neighbour),
    ]),
    jobs: byId([
      job(preloadedIds.job, ownAccount, preloadedIds.application),
      job(preloadedIds.foreignJob, 'neighbour', preloadedIds.foreignApplication),
    ]),
  }
}

/** Limits (§8.2) of an account's plan: bytes of a body and of a file, characters of a text. */
interface Plan {
  readonly body: number
  readonly file: number
  readonly text: number
}

const kib = 1024
const standard: Plan = { body: 4096 * kib, file: 1024 * kib, text: 100_000 }
const tiny: Plan = { body: 512, file: 128, text: 60 }

export const pdfLimit = 64 * kib
export const imageLimit = 16 * kib
export const queryComplexity = 8

export function planOf(call: Call): Plan {
  return call.request.header('x-plan') === 'tiny' ? tiny : standard
}

const working = new Set(['m-1', 'm-2', 'm-medical'])

type Trouble = readonly [condition: string, pair: Pair]

// Existing models with a problem (§7.3, §7.4). The two operations that use them differ in statuses.
const troubled: Readonly<Record<string, Trouble>> = {
  'm-restricted': ['403-model-access', '403-InsufficientAccessRights'],
  'm-exhausted': ['429-model-quota', '429-CompletionModelQuotaError'],
  'm-unauthorized': ['model-unauthorized', '500-CompletionModelUnauthorizedError'],
  'm-broken': ['model-underlying-request', '500-CompletionModelUnderlyingRequestError'],
  'm-silent': ['model-no-prediction', '500-CompletionModelNoPredictionError'],
}

const troubledByOperation: Readonly<Record<string, Readonly<Record<string, Trouble>>>> = {
  'completion.create': {
    'm-offline': ['500-model-unavailable', '500-CompletionModelUnavailableError'],
    'm-overloaded': ['500-model-overload', '500-CompletionModelInternalError'],
  },
  'chat.create': {
    'm-offline': ['503-model-unavailable', '503-CompletionModelUnavailableError'],
    'm-overloaded': ['500-model-internal-error', '500-CompletionModelInternalError'],
  },
}

function troubleOf(call: Call, model: string): Trouble | undefined {
  const all = { ...troubled, ...troubledByOperation[call.operation] }
  // Every object inherits members, such as `constructor`.
  return Object.hasOwn(all, model) ? all[model] : undefined
}

export function isModel(call: Call, id: unknown): id is string {
  return typeof id === 'string' && (working.has(id) || troubleOf(call, id) !== undefined)
}

export function refuseTroubledModel(call: Call, model: unknown): void {
  const trouble = troubleOf(call, String(model))
  if (!trouble) return
  const [condition, pair] = trouble
  const isOther = call.varied('models/other-statuses') && condition.startsWith('model-')
  call.refuse(condition, isOther ? `400-${pair.slice(4)}` : pair)
}

const cardNumber = /\b(?:\d{4}[ -]?){3}\d{4}\b/
const prohibited = /how to build a bomb/i

/** Refuses content that a guardrail blocks (§7.1, §7.3), and content that the model will not answer (§7.4). */
export function guard(call: Call, text: string, unsafe: string): void {
  if (cardNumber.test(text)) {
    const extras = call.broken('guardrails/400-blocked#extras')
      ? { entity_type: 17 }
      : { guardrail_name: 'pii', entity_type: 'CREDIT_CARD' }
    const message = { extras, key: 'fail.guardrail.blocked' }
    call.refuse('guardrails/400-blocked', '400-GuardrailBlockedError', message)
  }
  if (prohibited.test(text)) call.refuse(unsafe, '400-CompletionModelUnsafeRequestError')
}

export function generated(call: Call, text: string): string {
  if (call.varied('generation/empty')) return ''
  return call.varied('generation/varying') ? `${text} (${countUp(call.world, 'texts')})` : text
}
