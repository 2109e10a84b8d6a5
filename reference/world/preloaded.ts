import { fixture } from '../declared/scenarios.ts'
import { imageLimit, pdfLimit } from './models.ts'
import { plainJob, ownAccount, type Application, type Graph, type Job, type Store, type StoredFile } from './world.ts'

/** Ids of the objects that every server begins with; the target file of the reference names them. */
export const preloadedIds = {
  application: '6b1f0c52-3a54-4f0e-9d0c-0c8e5a1d1001',
  otherApplication: '6b1f0c52-3a54-4f0e-9d0c-0c8e5a1d1002',
  slowApplication: '6b1f0c52-3a54-4f0e-9d0c-0c8e5a1d1003',
  failingApplication: '6b1f0c52-3a54-4f0e-9d0c-0c8e5a1d1004',
  foreignApplication: '6b1f0c52-3a54-4f0e-9d0c-0c8e5a1d1005',
  job: '2e8d7a10-6c0b-4b9f-8f2d-5d3c9b7e2001',
  foreignJob: '2e8d7a10-6c0b-4b9f-8f2d-5d3c9b7e2002',
  // Ids of files may have any form: this one is not a uuid.
  file: 'file_tea_1d7a4c3ba5e8',
  deletedFile: '9c4e2f86-1d7a-4c3b-a5e8-7f60b2d93002',
  expiredFile: '9c4e2f86-1d7a-4c3b-a5e8-7f60b2d93003',
  foreignFile: '9c4e2f86-1d7a-4c3b-a5e8-7f60b2d93004',
  pdfFile: '9c4e2f86-1d7a-4c3b-a5e8-7f60b2d93005',
  corruptedPdfFile: '9c4e2f86-1d7a-4c3b-a5e8-7f60b2d93006',
  encryptedPdfFile: '9c4e2f86-1d7a-4c3b-a5e8-7f60b2d93007',
  oversizedPdfFile: '9c4e2f86-1d7a-4c3b-a5e8-7f60b2d93008',
  programFile: '9c4e2f86-1d7a-4c3b-a5e8-7f60b2d93009',
  image: '9c4e2f86-1d7a-4c3b-a5e8-7f60b2d93010',
  oversizedImage: '9c4e2f86-1d7a-4c3b-a5e8-7f60b2d93011',
  corruptedImage: '9c4e2f86-1d7a-4c3b-a5e8-7f60b2d93012',
  foreignImage: '9c4e2f86-1d7a-4c3b-a5e8-7f60b2d93013',
  graph: '4d5a9e3c-8b21-47f6-b0d4-1e6f3c8a4001',
  foreignGraph: '4d5a9e3c-8b21-47f6-b0d4-1e6f3c8a4002',
} as const

/** One black pixel. */
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=='

const contents = new Map<string, Uint8Array>()

/** Bytes made at their first use and shared by all servers of the process. */
function shared(name: string, make: () => Uint8Array): () => Uint8Array {
  return () => {
    const bytes = contents.get(name) ?? make()
    contents.set(name, bytes)
    return bytes
  }
}

const sample = (name: string) => shared(name, () => fixture(`pdf/${name}`))
const text = shared('text', () => Buffer.from('Tea leaves unfold slowly in hot water.\n'))
const image = shared('image', () => Buffer.from(png, 'base64'))
const bigImage = shared('big image', () => Buffer.concat([image(), Buffer.alloc(imageLimit)]))
const damagedImage = shared('damaged image', () => image().slice(1))
const bigPdf = shared('big PDF', () => Buffer.concat([sample('good.pdf')(), Buffer.alloc(pdfLimit, ' ')]))

type FileRow = readonly [id: string, name: string, type: string, bytes: () => Uint8Array, rest?: Partial<StoredFile>]

const fileRows: readonly FileRow[] = [
  [preloadedIds.file, 'tea.txt', 'text/plain', text],
  [preloadedIds.deletedFile, 'deleted.pdf', 'application/pdf', sample('good.pdf'), { state: 'deleted' }],
  [preloadedIds.expiredFile, 'expired.txt', 'text/plain', text, { state: 'expired' }],
  [preloadedIds.foreignFile, 'foreign.pdf', 'application/pdf', sample('good.pdf'), { account: 'neighbour' }],
  [preloadedIds.pdfFile, 'good.pdf', 'application/pdf', sample('good.pdf')],
  [preloadedIds.corruptedPdfFile, 'corrupted.pdf', 'application/pdf', sample('corrupted.pdf')],
  [preloadedIds.encryptedPdfFile, 'encrypted.pdf', 'application/pdf', sample('encrypted.pdf')],
  [preloadedIds.oversizedPdfFile, 'oversized.pdf', 'application/pdf', bigPdf],
  [preloadedIds.programFile, 'program.exe', 'application/x-msdownload', text],
  [preloadedIds.image, 'pixel.png', 'image/png', image],
  [preloadedIds.oversizedImage, 'oversized.png', 'image/png', bigImage],
  [preloadedIds.corruptedImage, 'corrupted.png', 'image/png', damagedImage],
  [preloadedIds.foreignImage, 'foreign.png', 'image/png', image, { account: 'neighbour' }],
]

const topicAndTone = [
  { id: 'topic', required: true },
  { id: 'tone', required: false },
]

function application(id: string, name: string, createdAt: number, rest: Partial<Application> = {}): Application {
  const base = { id, name, account: ownAccount, inputs: topicAndTone, createdAt, jobs: 0 }
  return { ...base, pace: 'usual', fails: false, ...rest }
}

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
  const ended = { createdAt: now - 60_000, updatedAt: now - 59_000, completedAt: now - 59_000, takes: 1000 }
  const data = { title: 'About tea', suggestion: 'Begin with the leaf.' }
  const job = (id: string, account: string, applicationId: string): Job =>
    plainJob({ id, account, applicationId, ...ended, status: 'completed', data })
  return {
    files: byId(fileRows.map(file)),
    graphs: byId([
      graph(preloadedIds.graph, 'Tea', ownAccount),
      graph(preloadedIds.foreignGraph, 'Coffee', 'neighbour'),
    ]),
    applications: byId([
      application(preloadedIds.application, 'Writer', now),
      application(preloadedIds.otherApplication, 'Second writer', now),
      application(preloadedIds.slowApplication, 'Slow writer', now, { pace: 'slow' }),
      application(preloadedIds.failingApplication, 'Failing writer', now, { fails: true }),
      application(preloadedIds.foreignApplication, 'Foreign writer', now, { account: 'neighbour' }),
    ]),
    jobs: byId([
      job(preloadedIds.job, ownAccount, preloadedIds.application),
      job(preloadedIds.foreignJob, 'neighbour', preloadedIds.foreignApplication),
    ]),
  }
}
