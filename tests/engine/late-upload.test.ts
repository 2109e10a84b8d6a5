import { expect, test } from 'vitest'
import target from '../../fixtures/reference.target.json' with { type: 'json' }
import { judgeBehind, json } from './behind.ts'

test('a row that late visibility fails names settleMs', async () => {
  const none = json(404, { tpe: 'ResourceNotFound', errors: [], extras: {} })
  const reply = async (path: string, answer: () => Promise<Response>): Promise<Response> =>
    /\/pdf-parser\/|knowledge-graphs\/[^/]+\/files/.test(path) ? none.clone() : answer()
  const { report, terminal } = await judgeBehind(
    reply,
    {
      only: ['pdf.parse/200-text', 'pdf.parse/400-missing-format', 'graphs.add-file/2xx-accepted'],
    },
    ({ resources, ...file }) => {
      const { pdfFile: _, ...others } = resources ?? {}
      return { ...file, resources: others }
    },
  )
  const of = (id: string) => report.requirements.find((result) => result.id === id)
  const remark =
    /if an upload takes longer than \d+ ms until it can be used, raise limits\.settleMs/
  expect(of('pdf.parse/200-text')?.failures[0]?.expected).toMatch(remark)
  expect(of('pdf.parse/400-missing-format')?.reason).toMatch(remark)
  expect(of('graphs.add-file/2xx-accepted')?.failures[0]?.expected).toMatch(remark)
  expect(terminal()).not.toContain('check resources.graph')
})

// The first file is the control's; one is added in all scenarios, one in all requests that a key has refused.
test.each([2, 3])(
  'if upload %d is refused, every requirement that would add that file adds another one',
  async (which) => {
    let uploads = 0
    const { report } = await judgeBehind(
      async (path, answer) => {
        const response = await answer()
        const isUpload =
          path.endsWith('/v1/files') &&
          response.ok &&
          'id' in ((await response.clone().json()) as object)
        return isUpload && ++uploads === which
          ? json(400, { tpe: 'BadRequest', errors: [], extras: {} })
          : response
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

test('a copy that knows an upload later than others says nothing about the charset', async () => {
  let additions = 0
  const { report } = await judgeBehind(
    // The first is the control's; the others meet that copy in turn.
    async (path, answer) =>
      /knowledge-graphs\/[^/]+\/files/.test(path) && [2, 4].includes(++additions)
        ? json(404, { tpe: 'ResourceNotFound', errors: [], extras: {} })
        : answer(),
    { only: ['envelope/charset-parameter'] },
  )
  expect(additions).toBeGreaterThan(2)
  expect(
    report.requirements.flatMap(({ id, outcome }) => (outcome === 'failed' ? [id] : [])),
  ).toEqual([])
})

test('uploads that are limited keep the charset from passing, and are named', async () => {
  let uploads = 0
  const { report } = await judgeBehind(
    (path, answer) =>
      path.endsWith('/v1/files') && ++uploads > 1
        ? json(429, { tpe: 'QuotaExceeded', errors: [], extras: {} }, { 'retry-after': '120' })
        : answer(),
    { only: ['envelope/charset-parameter'] },
  )
  const charset = report.requirements.find(({ id }) => id === 'envelope/charset-parameter')
  expect(charset).toMatchObject({
    outcome: 'not-exercised',
    reason: expect.stringMatching(
      /^throttled: .*429 QuotaExceeded; 1 of \d+ cases were not judged$/,
    ),
  })
})

test('a request without a key that is throttled at a path with a slash at its end is not said to be refused there', async () => {
  const id = 'files.list/401-missing-credentials'
  const { report } = await judgeBehind(
    (path, answer) =>
      path.endsWith('/v1/files/')
        ? json(429, { tpe: 'QuotaExceeded', errors: [], extras: {} }, { 'retry-after': '120' })
        : answer(),
    { only: [id] },
  )
  expect(report.requirements.find((result) => result.id === id)).toMatchObject({
    outcome: 'not-exercised',
    reason: expect.stringMatching(/^throttled: .*; 1 of \d+ cases were not judged$/),
  })
})

test('a copy that knows a job later than others says nothing about its retrieval', async () => {
  const readings = new Map<string, number>()
  const only = ['jobs.retrieve/200-job', 'jobs.retrieve/4xx-unknown-job']
  const { report } = await judgeBehind(
    async (path, answer) => {
      const count = (readings.get(path) ?? 0) + 1
      readings.set(path, count)
      const isBehind = /\/applications\/jobs\//.test(path) && count > 1 && count < 4
      return isBehind ? json(404, { tpe: 'ResourceNotFound', errors: [], extras: {} }) : answer()
    },
    { only },
    ({ resources, ...file }) => {
      const { job: _, ...others } = resources ?? {}
      return { ...file, resources: others }
    },
  )
  expect(
    report.requirements.filter(({ id }) => only.includes(id)).map(({ outcome }) => outcome),
  ).toEqual(['passed', 'passed'])
})

test('a format that takes no white space at its end is uploaded as it is declared', async () => {
  const ids = ['files.upload/2xx-attached-to-graph', 'files.upload/2xx-retrievable'] as const
  const image = {
    content: { base64: 'iVBORw0KGgoAAAANSUhEUg==' },
    contentType: 'image/png',
    filename: 'a.png',
  }
  const { report } = await judgeBehind(
    async (path, answer, _, request) =>
      path.endsWith('/v1/files') && /\s{16}$/.test(await request.text())
        ? json(400, { tpe: 'InvalidContentType', errors: [], extras: {} })
        : answer(),
    { only: [...ids] },
    (file) => ({
      ...file,
      operations: { ...file.operations, 'files.upload': { ...image, fields: { id: '/id' } } },
    }),
  )
  const outcomes = ids.map((id) => report.requirements.find((result) => result.id === id)?.outcome)
  expect(outcomes).toEqual(['passed', 'passed'])
})

test('a copy that knows an addition later than another may grant it once more', async () => {
  const id = 'graphs.add-file/409-already-in-graph'
  const asked = new Map<string, { at: number; granted: Response; times: number }>()
  const { report } = await judgeBehind(
    async (path, answer, sinceMs, request) => {
      if (!/knowledge-graphs\/[^/]+\/files/.test(path)) return answer()
      const place = `${path} ${await request.text()}`
      const known = asked.get(place)
      // The third one of an addition meets that copy.
      if (known && ++known.times === 3 && sinceMs - known.at < 1500) return known.granted.clone()
      const response = await answer()
      if (!known && response.ok)
        asked.set(place, { at: sinceMs, granted: response.clone(), times: 1 })
      return response
    },
    { only: [id] },
  )
  expect([...asked.values()].filter(({ times }) => times > 2).length).toBeGreaterThan(1)
  expect(report.requirements.find((result) => result.id === id)?.outcome).toBe('passed')
})

test('an upload that is lost because it is large is asked for again', async () => {
  let large = 0
  const { report } = await judgeBehind(
    async (path, answer, _sinceMs, request) => {
      if (path.endsWith('/files/lost'))
        return json(404, { tpe: 'ResourceNotFound', errors: [], extras: {} })
      const isLarge =
        path.endsWith('/v1/files') && (await request.arrayBuffer()).byteLength > 1024 * 1024
      if (!isLarge) return answer()
      large++
      return json(200, { id: 'lost' })
    },
    { only: ['files.*', 'envelope/large-body'] },
  )
  expect(large).toBe(1)
  const failed = report.requirements.flatMap(({ id, outcome }) =>
    outcome === 'failed' ? [id] : [],
  )
  expect(failed).toEqual(['files.upload/2xx-retrievable'])
})

test('any operation may answer that the file which a request names was deleted', async () => {
  let deleted = 0
  const { report } = await judgeBehind(
    async (path, answer, _sinceMs, request) => {
      if (
        !path.endsWith('/v1/vision/analyze') ||
        !(await request.text()).includes(target.resources.deletedFile)
      )
        return answer()
      deleted++
      return json(410, { tpe: 'ResourceNotFound', errors: [], extras: {} })
    },
    { only: ['vision.analyze/*', 'envelope/status-tpe-pair'] },
  )
  expect(deleted).toBeGreaterThan(0)
  expect(
    report.requirements.flatMap(({ id, outcome }) => (outcome === 'failed' ? [id] : [])),
  ).toEqual([])
})
