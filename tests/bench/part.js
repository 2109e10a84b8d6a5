// A process that the bench starts beside conform: node tests/bench/part.js reference [<options>] | undici <har> <url> <key>.
import process from 'node:process'

const [role, ...given] = process.argv.slice(2)
await { reference, undici }[role](...given)

/** Says its URL, and ends with its standard input. */
function serving(url) {
  process.stdout.write(`${url}\n`)
  process.stdin.on('end', () => process.exit()).resume()
}

/** A reference server. */
async function reference(options = '{}') {
  const { startReference } = await import('../../dist/reference.js')
  serving((await startReference(JSON.parse(options))).url)
}

/** Sends the requests of a run again by undici alone, eight at once, and reads the responses as text: a run is held against it. */
async function undici(har, url, key) {
  const { readFileSync } = await import('node:fs')
  const { Pool } = await import('undici')
  const requests = JSON.parse(readFileSync(har, 'utf8')).log.entries.map((entry) => entry.request)
  const connections = 8
  const pool = new Pool(url, { connections })
  // Keys are not in the file, and some of what belongs to a connection is made anew.
  const isMade = /^(authorization|connection|content-length|host|transfer-encoding)$/i
  async function work() {
    for (let next = requests.shift(); next; next = requests.shift()) {
      const { method, url: at, headers, postData } = next
      const kept = headers
        .filter(({ name }) => !isMade.test(name))
        .flatMap(({ name, value }) => [name, value])
      const { pathname, search } = new URL(at)
      const body = postData ? Buffer.from(postData.text, postData._encoding ?? 'utf8') : null
      const sent = {
        method,
        path: pathname + search,
        headers: ['authorization', `Bearer ${key}`, ...kept],
        body,
      }
      const response = await pool.request(sent)
      await response.body.text()
    }
  }
  await Promise.all(Array.from({ length: connections }, work))
  await pool.close()
}
