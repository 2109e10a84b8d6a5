import { fixture } from '../declared/scenarios.ts'
import { imageLimit, pdfLimit } from './models.ts'
import {
  plainJob,
  ownAccount,
  type Application,
  type Graph,
  type Job,
  type Store,
  type StoredFile,
} from './world.ts'

/** Ids of objects that every server begins with, and of which it knows more than that; the target file of the reference names them. */
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

/** One black pixel. */
const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=='

/** Bytes made at their first use and shared by all servers of the process. */
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

const files: readonly FileRow[] = [
  // Ids of files may have any form: this one is not a uuid.
  ['file_tea_1d7a4c3ba5e8', 'tea.txt', 'text/plain', text],
  [
    '9c4e2f86-1d7a-4c3b-a5e8-7f60b2d93002',
    'deleted.pdf',
    'application/pdf',
    goodPdf,
    { state: 'deleted' },
  ],
  ['9c4e2f86-1d7a-4c3b-a5e8-7f60b2d93003', 'expired.txt', 'text/plain', text, { state: 'expired' }],
  [
    '9c4e2f86-1d7a-4c3b-a5e8-7f60b2d93004',
    'foreign.pdf',
    'application/pdf',
    goodPdf,
    { account: 'neighbour' },
  ],
  [preloadedIds.pdfFile, 'good.pdf', 'application/pdf', goodPdf],
  ['9c4e2f86-1d7a-4c3b-a5e8-7f60b2d93006', 'corrupted.pdf', 'application/pdf', corruptedPdf],
  ['9c4e2f86-1d7a-4c3b-a5e8-7f60b2d93007', 'encrypted.pdf', 'application/pdf', encryptedPdf],
  ['9c4e2f86-1d7a-4c3b-a5e8-7f60b2d93008', 'oversized.pdf', 'application/pdf', bigPdf],
  ['9c4e2f86-1d7a-4c3b-a5e8-7f60b2d93009', 'program.exe', 'application/x-msdownload', text],
  ['9c4e2f86-1d7a-4c3b-a5e8-7f60b2d93010', 'pixel.png', 'image/png', image],
  ['9c4e2f86-1d7a-4c3b-a5e8-7f60b2d93011', 'oversized.png', 'image/png', bigImage],
  ['9c4e2f86-1d7a-4c3b-a5e8-7f60b2d93012', 'corrupted.png', 'image/png', damagedImage],
  [
    '9c4e2f86-1d7a-4c3b-a5e8-7f60b2d93013',
    'foreign.png',
    'image/png',
    image,
    { account: 'neighbour' },
  ],
]

const inputs = [
  { id: 'topic', required: true },
  { id: 'tone', required: false },
]

function byId<Row extends { readonly id: string }>(rows: readonly Row[]): Map<string, Row> {
  return new Map(rows.map((row) => [row.id, row]))
}

/** Fills the store that a server begins with. `now`: ms since the epoch. */
export function preloadedStore(now: number): Store {
  const file = ([id, name, type, bytes, rest]: FileRow): StoredFile => {
    return { id, name, type, bytes, account: ownAccount, state: 'stored', createdAt: now, ...rest }
  }
  const graph = (id: string, name: string, account: string): Graph => {
    return { id, name, account, version: '"1"', files: new Map(), createdAt: now }
  }
  const application = (id: string, name: string, rest: Partial<Application> = {}): Application => {
    const plain = { account: ownAccount, pace: 'usual', fails: false, jobs: 0 } as const
    return { id, name, inputs, createdAt: now, ...plain, ...rest }
  }
  const ended = {
    createdAt: now - 60_000,
    updatedAt: now - 59_000,
    completedAt: now - 59_000,
    takes: 1000,
  }
  const data = { title: 'About tea', suggestion: 'Begin with the leaf.' }
  const job = (id: string, account: string, applicationId: string): Job =>
    plainJob({ id, account, applicationId, ...ended, status: 'completed', data })
  return {
    files: byId(files.map(file)),
    graphs: byId([
      graph('4d5a9e3c-8b21-47f6-b0d4-1e6f3c8a4001', 'Tea', ownAccount),
      graph('4d5a9e3c-8b21-47f6-b0d4-1e6f3c8a4002', 'Coffee', 'neighbour'),
    ]),
    applications: byId([
      application(preloadedIds.application, 'Writer'),
      application(preloadedIds.otherApplication, 'Second writer'),
      application(preloadedIds.slowApplication, 'Slow writer', { pace: 'slow' }),
      application(preloadedIds.failingApplication, 'Failing writer', { fails: true }),
      application(preloadedIds.foreignApplication, 'Foreign writer', { account: 'neighbour' }),
    ]),
    jobs: byId([
      job(preloadedIds.job, ownAccount, preloadedIds.application),
      job(preloadedIds.foreignJob, 'neighbour', preloadedIds.foreignApplication),
    ]),
  }
}
