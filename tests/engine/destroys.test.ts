import { afterEach, beforeEach, expect, test } from 'vitest'
import { operationOf, type OperationId } from '../../catalogue/operations.ts'
import { operationProbe } from '../../harness/client/index.ts'
import { answer, judge, lost, refusal } from './networks.ts'

const destroying: OperationId = 'files.retrieve'
const unknown = `${destroying}/404-unknown-file`

// As if the interface destroyed what it reads.
const record: { effect?: string } = operationOf(destroying)
const { effect } = record
beforeEach(() => void (record.effect = 'destroys'))
afterEach(() => void (record.effect = effect))

test('a request that destroys never names an object that the target file declares', async () => {
  const sent: string[] = []
  let declared = ''
  let refused: Promise<unknown> | undefined
  const { of } = await judge([`${destroying}/2xx-accepted`, `${destroying}/401-*`, unknown], {
    prepare(run) {
      declared = String(run.given.target.resources.file)
      const source = operationProbe(run.given, destroying, { params: { file_id: declared } })
      const purpose = { requirement: null, role: 'control' } as const
      refused = run.client.sendOnce({ source: () => source, purpose })
    },
    way(request, send, { probe }) {
      if (probe?.operation === destroying) sent.push(request.path)
      return send()
    },
  })
  const why = `it would destroy ${declared}, which the target file declares`
  expect(await refused).toEqual({ outcome: 'open', why })
  expect(of(`${destroying}/2xx-accepted`)).toMatchObject({ outcome: 'passed' })
  expect(of(unknown)).toMatchObject({ outcome: 'passed', cases: 2 })
  expect(sent.length).toBeGreaterThan(0)
  expect(sent.filter((path) => path.includes(declared))).toEqual([])
})

test('a server that answers an upload with a declared file keeps it', async () => {
  const sent: string[] = []
  let declared = ''
  const { of, report } = await judge([`${destroying}/*`, 'files.upload/2xx-accepted'], {
    prepare: (run) => void (declared = String(run.given.target.resources.file)),
    way(request, send, { probe }) {
      if (probe?.operation === 'files.upload') return answer(201, JSON.stringify({ id: declared }))
      if (request.path.includes(declared)) sent.push(`${request.method} ${request.path}`)
      return send()
    },
  })
  expect(of(`${destroying}/2xx-accepted`)).toMatchObject({
    outcome: 'not-exercised',
    reason: expect.stringContaining(`answered with ${declared}`) as string,
  })
  expect(sent).toEqual([])
  expect(report.run.cleanup.left.concat(report.run.created as never)).toEqual([])
})

test('what is destroyed by a request whose answer is lost is not asked for again', async () => {
  const gone = new Set<string>()
  const { of } = await judge([`${destroying}/2xx-accepted`], {
    way(request, send, { probe }) {
      if (probe?.operation !== destroying) return send()
      if (gone.has(request.path)) return refusal(404, 'ResourceNotFound')
      gone.add(request.path)
      return gone.size % 2 === 1 ? lost() : send()
    },
  })
  expect(gone.size).toBeGreaterThanOrEqual(4)
  expect(of(`${destroying}/2xx-accepted`).failures).toEqual([])
})

test('a server that says of what it destroyed that it was never there fails', async () => {
  const parsing: { effect?: string } = operationOf('pdf.parse')
  parsing.effect = 'destroys'
  const { of } = await judge(['pdf.parse/200-text'], {
    change: ({ resources, ...file }) => ({
      ...file,
      resources: { ...resources, pdfFile: undefined },
    }),
    way: (_, send, { probe }) =>
      probe?.operation === 'pdf.parse' || probe?.operation === 'files.retrieve'
        ? refusal(404, 'ResourceNotFound')
        : send(),
  })
  parsing.effect = 'none'
  expect(of('pdf.parse/200-text')).toMatchObject({ outcome: 'failed' })
})
