// What `conform record` adds to the latency of a request, beside a bare proxy of Node: median and 99th in a hundred.
import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import http from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))
const [rounds = '2000', role, target] = process.argv.slice(2)

/** Hands everything on by node:http, as a proxy of twenty lines does. */
function bareProxy(to) {
  const agent = new http.Agent({ keepAlive: true })
  const { hostname, port } = new URL(to)
  const server = http.createServer((request, response) => {
    const { method, url: path, headers } = request
    const onward = http.request({ agent, hostname, port, method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.rawHeaders)
      answer.pipe(response)
    })
    request.pipe(onward)
  })
  server.listen(0, '127.0.0.1', () => process.send(`http://127.0.0.1:${server.address().port}`))
  process.on('disconnect', () => process.exit())
}

/** Answers with 2 KB of JSON. */
function upstream() {
  const body = JSON.stringify({ data: [{ id: 'x', note: 'y'.repeat(2000) }], has_more: false })
  const head = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  const server = http.createServer((request, response) => {
    request.resume()
    response.writeHead(200, head).end(body)
  })
  server.listen(0, '127.0.0.1', () => process.send(`http://127.0.0.1:${server.address().port}`))
  process.on('disconnect', () => process.exit())
}

const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
function ask(url) {
  return new Promise((resolve, reject) => {
    const headers = { authorization: 'Bearer a-key-that-is-not-shown-anywhere' }
    const began = performance.now()
    http
      .get(`${url}/v1/files`, { agent, headers }, (answer) => {
        answer.on('end', () => resolve(performance.now() - began)).resume()
      })
      .on('error', reject)
  })
}

async function measure() {
  const part = async (...args) => {
    const child = fork(here('record-latency.js'), [rounds, ...args])
    const [url] = await once(child, 'message')
    return { child, url }
  }
  const server = await part('upstream')
  const bare = await part('bare', server.url)
  const out = join(tmpdir(), `conform-bench-${process.pid}.har`)
  const record = spawn(process.execPath, [here('../bin/conform.js'), 'record', server.url, '--out', out])
  const [line] = await once(record.stdout.setEncoding('utf8'), 'data')
  const recording = JSON.parse(line.split('\n')[0]).url
  const times = { direct: [], bare: [], record: [] }
  for (let at = 0; at < 300; at++) for (const url of [server.url, bare.url, recording]) await ask(url)
  // In turn, so that whatever else the machine does meets all of them.
  for (let at = 0; at < Number(rounds); at++) {
    times.direct.push(await ask(server.url))
    times.bare.push(await ask(bare.url))
    times.record.push(await ask(recording))
  }
  const at = (list, share) => list.sort((a, b) => a - b)[Math.floor(list.length * share)]
  for (const [name, list] of Object.entries(times)) {
    const [median, late] = [at(list, 0.5), at(list, 0.99)].map((ms) => ms.toFixed(3))
    process.stdout.write(`${name.padEnd(8)} median ${median} ms, 99th in a hundred ${late} ms\n`)
  }
  const ratio = (share) => (at(times.record, share) / at(times.bare, share)).toFixed(2)
  process.stdout.write(`record / bare: ${ratio(0.5)} at the median, ${ratio(0.99)} at the 99th\n`)
  record.kill('SIGTERM')
  await once(record, 'exit')
  for (const { child } of [server, bare]) child.disconnect()
  agent.destroy()
}

if (role === 'bare') bareProxy(target)
else if (role === 'upstream') upstream()
else await measure()
