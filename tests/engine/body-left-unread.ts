import type net from 'node:net'

const answer = (status: number, type: string, body: string): string =>
  `HTTP/1.1 ${status} Status\r\ncontent-type: ${type}\r\ncontent-length: ${body.length}\r\n\r\n${body}`
/** An envelope without messages. */
export const refusal = JSON.stringify({ tpe: 'BadCredentials', errors: [], extras: {} })

/** Refuses what has no key without reading its body, which then is before the next request. */
export function leavesBodyUnread(socket: net.Socket): void {
  let text = ''
  const next = (): void => {
    const end = text.indexOf('\r\n\r\n')
    if (end < 0) return
    const head = text.slice(0, end)
    const method = head.slice(0, head.indexOf(' /'))
    const length = /^[A-Z]+$/.test(method)
      ? Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0)
      : 0
    const hasKey = /\r\nauthorization: Bearer /i.test(head)
    if (hasKey && text.length < end + 4 + length) return
    text = text.slice(end + 4 + (hasKey ? length : 0))
    if (!/^[A-Z]+$/.test(method))
      socket.end(answer(501, 'text/html', `<html><p>Unsupported method (&#x27;${method}&#x27;)`))
    else if (hasKey && method === 'GET' && !head.includes('/files'))
      socket.write(answer(404, 'application/json', refusal))
    else
      socket.write(
        hasKey ? answer(200, 'application/json', '{}') : answer(401, 'application/json', refusal),
      )
    next()
  }
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1')
    next()
  })
}
