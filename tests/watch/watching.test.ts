import { renameSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { untilBack } from '../../cli/run/find-target.ts'
import { watchFiles } from '../../cli/watch.ts'
import type { Target } from '../../harness/target/model.ts'
import { folder } from '../cli/conform.ts'
import { listen } from '../wire/servers.ts'

test('a file that is written, or replaced by another one, is reported once; the same content is not', async () => {
  const dir = folder()
  const path = join(dir, 'target.json')
  writeFileSync(path, 'one')
  const told: string[] = []
  onTestFinished(watchFiles([path], (changed) => told.push(changed)))
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

test('a target that restarts is noticed, and is asked nothing before it is gone', async () => {
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

test('a watch that is ended says nothing more', async () => {
  const controller = new AbortController()
  const target = { baseUrl: 'http://127.0.0.1:9', headers: [], tls: {} } as unknown as Target
  expect(await untilBack(target, true, controller.signal, () => controller.abort())).toBe(false)
})
