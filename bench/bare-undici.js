// What the suite is held against: sends recorded requests by undici alone, so many at once, and reads the answers as text.
import { readFileSync } from 'node:fs'
import { Pool } from 'undici'

const [file, url, concurrency] = process.argv.slice(2)
const requests = JSON.parse(readFileSync(file, 'utf8'))
const pool = new Pool(url, { connections: Number(concurrency) })

async function work() {
  for (let next = requests.shift(); next; next = requests.shift()) {
    const { method, path, headers, body } = next
    const answer = await pool.request({ method, path, headers, body: body === '' ? null : Buffer.from(body, 'base64') })
    await answer.body.text()
  }
}

await Promise.all(Array.from({ length: Number(concurrency) }, work))
await pool.close()
