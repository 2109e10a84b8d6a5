import { createServer } from 'node:http'
import { encodings } from '../redact/encodings.ts'
import { listen } from '../wire/servers.ts'

export interface EchoTarget {
  readonly url: string
  /** Every Authorization value that was received. */
  readonly seen: ReadonlySet<string>
}

/** A target that tells everybody the key that it was sent: in the body and headers of its answers, in every encoding. */
export async function echoTarget(): Promise<EchoTarget> {
  const seen = new Set<string>()
  const ways = Object.entries(encodings)
  let answers = 0
  const server = createServer((request, response) => {
    const credential = request.headers.authorization ?? ''
    seen.add(credential)
    const key = credential.replace(/^Bearer /, '')
    const [name, encode] = ways[answers++ % ways.length]!
    // By reads a run asks whether its key is accepted still: answered 401 three times in a row, it would end.
    const statuses = request.method === 'GET' ? [400, 200, 404, 409] : [400, 200, 401, 404, 409]
    const status = statuses[answers % statuses.length]!
    const told = {
      id: key,
      tpe: key,
      errors: [{ description: `${name}: ${encode(key)}`, key, extras: { credential } }],
      extras: { [key]: key },
    }
    const text = answers % 3 === 0 ? `<p>${credential} ${encode(key)}</p>` : JSON.stringify(told)
    response.writeHead(status, {
      'content-type': answers % 3 === 0 ? 'text/html' : 'application/json',
      'x-echo': encode(key).replaceAll(/[^\x21-\x7e]/g, ''),
      'www-authenticate': `Bearer error="${key}"`,
      location: `/v1/${encodeURIComponent(key)}`,
    })
    request.resume().on('end', () => response.end(text))
  })
  const { url } = await listen(server)
  return { url, seen }
}
