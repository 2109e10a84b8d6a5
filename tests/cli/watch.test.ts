import { renameSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { untilBack } from '../../cli/run/start-server.ts'
import { changesSince, forFailed, onChange } from '../../cli/watch.ts'
import { leftOut } from '../../harness/report/reason.ts'
import type { RequirementResult } from '../../schemas/report.ts'
import type { Target } from '../../harness/target/model.ts'
import { failed, missed, report, result } from '../gates/results.ts'
import { listen } from '../wire/servers.ts'
import { folder } from './conform.ts'

test('watch reports what changed since each requirement was judged last', () => {
  const known = new Map<string, RequirementResult>()
  changesSince(known, report([failed('a.b/1'), result('a.b/2'), failed('a.b/3'), failed('a.b/4')]))
  const part = report([
    result('a.b/1'),
    failed('a.b/2'),
    missed('a.b/3'),
    missed('a.b/4', leftOut('--only')),
  ])
  const lost = ['Failed before, not tested now: 1', '  a.b  1: 3']
  expect(changesSince(known, part)).toEqual([
    ...['Broke: 1', '  a.b  1: 2', 'Fixed: 1', '  a.b  1: 1'],
    ...lost,
  ])
  // What could not be judged has not passed, and a part says nothing about the rest.
  const still = [...known.values()].filter(({ outcome }) => outcome === 'failed')
  expect(still.map(({ id }) => id)).toEqual(['a.b/2', 'a.b/3', 'a.b/4'])
  expect(changesSince(known, part)).toEqual(['Still failing: 1', '  a.b  1: 2', ...lost])
})

test('watch runs what failed with what shows it and with the inputs that it had, and writes no report', () => {
  const given = { only: ['jobs.*'], skip: ['*/401-*'], header: {}, report: ['json'], seed: 1 }
  const id = 'jobs.create/202-created'
  const rerunIds = [id, 'files.list/2xx-accepted', 'no/such-id']
  const options = { ...given, tpe: 'exact', depth: 'full' } as const
  expect(forFailed(options, [failed(id, { rerunIds, seed: 99 })])).toMatchObject({
    ...{ only: [id, 'files.list/2xx-accepted'], skip: [], report: [], seed: 99 },
  })
})

test('watch notices a file that is written or replaced once, and not if its content is the same', async () => {
  const dir = folder()
  const path = join(dir, 'target.json')
  writeFileSync(path, 'one')
  const told: string[] = []
  onTestFinished(onChange(path, () => told.push(path)))
  writeFileSync(join(dir, 'other.json'), 'nobody watches this')
  writeFileSync(path, 'one')
  // That nothing is reported has no event: too short a wait would hide a fault, and never show one.
  await sleep(400)
  expect(told).toEqual([])
  writeFileSync(path, '')
  writeFileSync(path, 'two')
  await expect.poll(() => told).toEqual([path])
  writeFileSync(join(dir, 'new'), 'three')
  renameSync(join(dir, 'new'), path)
  await expect.poll(() => told).toEqual([path, path])
})

/** A server that answers 401 and keeps what it was asked. */
async function listening(port = 0) {
  const asked: string[] = []
  const server = createServer(({ method, url }, response) => {
    asked.push(`${method} ${url}`)
    response.writeHead(401).end()
  })
  return { ...(await listen(server, port)), asked }
}

test('watch notices a target that restarts, and asks it nothing before it is gone', async () => {
  const first = await listening()
  const target = { baseUrl: first.url, headers: [], tls: {} } as unknown as Target
  const told: string[] = []
  const controller = new AbortController()
  onTestFinished(() => controller.abort())
  const { signal } = controller
  const onGone = () => void told.push('gone')
  const back = untilBack(target, false, signal, onGone)
  // As above: an early question would have come by then, as each look takes half a second.
  await sleep(700)
  expect({ told, asked: first.asked }).toEqual({ told: [], asked: [] })
  await first.close()
  await expect.poll(() => told).toEqual(['gone'])
  const second = await listening(first.port)
  expect(await back).toBe(true)
  expect(second.asked).toEqual(['GET /v1/files'])
})
