import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { expect, onTestFinished, test } from 'vitest'
import { answered, transportTo } from './servers.ts'

/** Answers at the first bytes and closes, in a thread of its own: the connection is reset while the body is being written. */
const hasty = `
const { parentPort } = require('node:worker_threads')
const answer = 'HTTP/1.1 413 Content Too Large\\r\\nconnection: close\\r\\ncontent-length: 2\\r\\n\\r\\n{}'
const server = require('node:net').createServer({ highWaterMark: 1024 }, (socket) => {
  socket.on('error', () => {})
  socket.once('data', () => socket.pause().write(answer, () => socket.destroy()))
})
server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))
`

test('an answer that comes before the body was read is not lost, though the connection is reset', async () => {
  const worker = new Worker(hasty, { eval: true })
  onTestFinished(async () => void (await worker.terminate()))
  const [port] = (await once(worker, 'message')) as [number]
  const transport = transportTo({ url: `http://127.0.0.1:${port}` })
  const headers = [{ name: 'content-type', value: 'application/json' }]
  const request = { method: 'POST', path: '/', headers, body: Buffer.alloc(4_000_000, 'x') }
  for (let sent = 0; sent < 30; sent++) {
    expect(answered(await transport.send(request, { timeoutMs: 20_000 })).status).toBe(413)
  }
})
