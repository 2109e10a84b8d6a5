import { expect, test } from 'vitest'
import target from '../../fixtures/reference.target.json' with { type: 'json' }
import { refusalOfExisting } from '../../catalogue/catalogue.ts'
import { member } from '../../schemas/json.ts'
import { error, judgeBehind, json, limited } from './behind.ts'

const isUpload = (path: string): boolean => path.endsWith('/v1/files')
const isAddition = (path: string): boolean => /knowledge-graphs\/[^/]+\/files/.test(path)
const unknown = () => error(404, 'ResourceNotFound')

test('a row that late visibility fails names settleMs', async () => {
  const { of, terminal } = await judgeBehind(
    (path, answer) => (path.includes('/pdf-parser/') || isAddition(path) ? unknown() : answer()),
    {
      only: ['pdf.parse/200-text', 'pdf.parse/400-missing-format', 'graphs.add-file/2xx-accepted'],
      change: ({ resources: { pdfFile: _, ...resources } = {}, ...file }) => ({
        ...file,
        resources,
      }),
    },
  )
  const remark = /raise limits\.settleMs if uploads need more than \d+ ms/
  expect(of('pdf.parse/200-text').failures[0]?.expected).toMatch(remark)
  expect(of('pdf.parse/400-missing-format').reason).toMatch(remark)
  expect(of('graphs.add-file/2xx-accepted').failures[0]?.expected).toMatch(remark)
  expect(terminal()).not.toContain('check resources.graph')
})

test('a file that newer ones have pushed out of a listing is followed by another file', async () => {
  let listings = 0
  const { passed } = await judgeBehind(
    (_, answer, _ms, { url }) =>
      url.includes('file_types') && listings++ < 3 ? json(200, { data: [] }) : answer(),
    { only: ['files.list/2xx-filtered'] },
  )
  expect(passed).toEqual(['files.list/2xx-filtered'])
})

test.each<[string, (types: readonly string[]) => boolean, string[]]>([
  [
    'an extension that it does not know passes',
    (types) => types.some((one) => !/txt|pdf/.test(one)),
    [],
  ],
  ['two of them fails', (types) => types.length > 1, ['files.list/2xx-file-types']],
])('a server that refuses a listing by %s', async (_, isRefused, expected) => {
  const { failed } = await judgeBehind(
    (_path, answer, _ms, { url }) => {
      const types = new URL(url).searchParams.get('file_types')
      return types && isRefused(types.split(',')) ? error(400, 'InvalidInputParameters') : answer()
    },
    { only: ['files.list/*'] },
  )
  expect(failed).toEqual(expected)
})

test('a server that refuses file names beyond ASCII passes', async () => {
  let refused = 0
  const { failed } = await judgeBehind(
    (_path, answer, _ms, { headers }) => {
      const isRefused = headers.get('content-disposition')?.includes('filename*=') === true
      refused += isRefused ? 1 : 0
      return isRefused ? error(400, 'InvalidInputParameters') : answer()
    },
    { only: ['files.*'], skip: ['*/401-*'] },
  )
  expect(refused).toBeGreaterThan(0)
  expect(failed).toEqual([])
})

test('one id for all uploads is as old as the first: it is not waited for again and again', async () => {
  const made: number[] = []
  const { run } = await judgeBehind(
    async (path, answer, _ms, { method }) => {
      if (isAddition(path)) return unknown()
      if (!isUpload(path) || method !== 'POST') return answer()
      made.push(performance.now())
      return json(200, { id: 'the-same' })
    },
    { only: ['graphs.add-file/*'] },
  )
  expect(made.at(-1)).toBeGreaterThan(made[0]!)
  expect(run.given.objects.madeAt.get('the-same')).toBe(made[0])
})

test('a row in which only the name is wrong does not name settleMs', async () => {
  const { of } = await judgeBehind(
    async (path, answer) => {
      const response = await answer()
      return isAddition(path) && response.status === 404 ? error(404, 'NotFound') : response
    },
    { only: ['graphs.add-file/404-unknown-graph'] },
  )
  const { actual, expected } = of('graphs.add-file/404-unknown-graph').failures[0]!
  expect(actual).toMatch(/^404 NotFound/)
  expect(expected).not.toContain('settleMs')
})

// The first file is the control's; one is added in all scenarios, one in all requests that a key has refused.
test.each([2, 3])(
  'if upload %d is refused, every requirement that would add that file adds another one',
  async (which) => {
    let uploads = 0
    const { report } = await judgeBehind(
      async (path, answer) => {
        const response = await answer()
        const isGranted =
          isUpload(path) && response.ok && 'id' in ((await response.clone().json()) as object)
        return isGranted && ++uploads === which ? error(400, 'BadRequest') : response
      },
      { only: ['graphs.add-file/401-*', 'graphs.add-file/403-*'] },
    )
    expect(uploads).toBeGreaterThan(3)
    const open = report.requirements.filter(({ reason }) =>
      reason?.startsWith('a file that the suite uploads'),
    )
    expect(open.map(({ id }) => id)).toEqual([])
  },
)

test('a new file that conflicts while it is processed may be added later', async () => {
  // The one that does not say that the file is in the graph.
  const conflict = ['Conflict', 'BadRequest'].find(
    (name) => !refusalOfExisting('graphs.add-file').flat().includes(name),
  )
  const processed = new Set<unknown>()
  const { failed, passed } = await judgeBehind(
    async (path, answer, _ms, request) => {
      const body: unknown = isAddition(path)
        ? await request.json().catch(() => undefined)
        : undefined
      const file = member(body, 'file_id')
      if (processed.delete(file)) return error(409, conflict!)
      const response = await answer()
      if (isUpload(path) && response.ok) processed.add(member(await response.clone().json(), 'id'))
      return response
    },
    { only: ['graphs.add-file/2xx-accepted', 'graphs.add-file/400-*'] },
  )
  expect(failed).toEqual([])
  expect(passed).toContain('graphs.add-file/2xx-accepted')
})

test('a copy that knows an upload later than others says nothing about the charset', async () => {
  let additions = 0
  const { failed } = await judgeBehind(
    // The first is the control's; the others meet that copy in turn.
    (path, answer) => (isAddition(path) && [2, 4].includes(++additions) ? unknown() : answer()),
    { only: ['envelope/charset-parameter'] },
  )
  expect(additions).toBeGreaterThan(2)
  expect(failed).toEqual([])
})

test.each<[string, string, (path: string, uploads: number) => boolean, RegExp]>([
  [
    'uploads that are limited keep the charset from passing, and are named',
    'envelope/charset-parameter',
    (path, uploads) => isUpload(path) && uploads > 1,
    /^throttled: .*429 QuotaExceeded; 1 of \d+ cases were not judged$/,
  ],
  [
    'a request without a key that is throttled at a path with a slash at its end is not said to be refused there',
    'files.list/401-missing-credentials',
    (path) => path.endsWith('/v1/files/'),
    /^throttled: .*; 1 of \d+ cases were not judged$/,
  ],
])('%s', async (_, id, isLimited, reason) => {
  let uploads = 0
  const { of } = await judgeBehind(
    (path, answer) => {
      if (isUpload(path)) uploads++
      return isLimited(path, uploads) ? limited(120) : answer()
    },
    { only: [id] },
  )
  expect(of(id)).toMatchObject({
    outcome: 'not-exercised',
    reason: expect.stringMatching(reason),
  })
})

test('a format that takes no white space at its end is uploaded as it is declared', async () => {
  const ids = ['files.upload/2xx-retrievable', 'files.upload/2xx-attached-to-graph']
  const image = {
    content: { base64: 'iVBORw0KGgoAAAANSUhEUg==' },
    contentType: 'image/png',
    filename: 'a.png',
  }
  const { passed } = await judgeBehind(
    async (path, answer, _, request) =>
      isUpload(path) && /\s{16}$/.test(await request.text())
        ? error(400, 'InvalidContentType')
        : answer(),
    {
      only: ids,
      change: (file) => ({
        ...file,
        operations: { ...file.operations, 'files.upload': { ...image, fields: { id: '/id' } } },
      }),
    },
  )
  expect(passed.toSorted()).toEqual(ids.toSorted())
})

test('an upload that is lost because it is large is asked for again', async () => {
  let large = 0
  const { failed } = await judgeBehind(
    async (path, answer, _sinceMs, request) => {
      if (path.endsWith('/files/lost')) return unknown()
      const isLarge = isUpload(path) && (await request.arrayBuffer()).byteLength > 1024 * 1024
      if (!isLarge) return answer()
      large++
      return json(200, { id: 'lost' })
    },
    { only: ['files.upload/*', 'envelope/large-body'] },
  )
  expect(large).toBe(1)
  expect(failed).toEqual(['files.upload/2xx-retrievable'])
})

test('any operation may answer that the file which a request names was deleted', async () => {
  let deleted = 0
  const { failed } = await judgeBehind(
    async (path, answer, _sinceMs, request) => {
      const isOfFile = path.endsWith('/v1/vision/analyze')
      if (!isOfFile || !(await request.text()).includes(target.resources.deletedFile))
        return answer()
      deleted++
      return error(410, 'ResourceNotFound')
    },
    { only: ['vision.analyze/*', 'envelope/status-tpe-pair'] },
  )
  expect(deleted).toBeGreaterThan(0)
  expect(failed).toEqual([])
})
