import { isMembers, jsonType, type Call, type Members } from './call.ts'
import { lengthened } from './like-id.ts'

const roles = new Set(['system', 'developer', 'user', 'assistant', 'tool'])

function isImageAddress(part: Members): boolean {
  const address = isMembers(part['image_url']) ? part['image_url']['url'] : undefined
  return typeof address === 'string' && /^(https?:\/\/|data:image\/[a-z+.-]+;base64,)/i.test(address)
}

function checkPart(call: Call, part: unknown, places: readonly string[]): void {
  if (!isMembers(part))
    return call.refuse('400-malformed-messages', 400, 'BadRequest', {
      description: 'A part is an object',
      kind: ['part', ...(part === null ? ['part-null'] : []), ...places],
    })
  const malformed = (kind: string) =>
    call.refuse('400-malformed-messages', 400, 'BadRequest', {
      description: 'A part is as shown',
      kind: [kind, ...places],
    })
  const { type, text, image_url: image } = part
  if (type === undefined) return malformed('no-type')
  if (type === 'text' && text === undefined) return malformed('no-text')
  if (type === 'text' && typeof text !== 'string') return malformed('text-type')
  if (type === 'text') return
  if (type === 'image_url' && image === undefined) return malformed('no-image')
  if (type === 'image_url' && typeof image === 'string') return malformed('image-text')
  if (type === 'image_url' && isMembers(image) && image['url'] === undefined) return malformed('no-url')
  if (part['type'] === 'image_url' && isImageAddress(part)) {
    const asData = String((part['image_url'] as Members)['url']).startsWith('data:')
    if (call.broken('200-image-parts') && asData) call.reject(400, 'BadRequest', 'Images are given by address')
    if (call.broken('200-image-url') && !asData) call.reject(400, 'BadRequest', 'Images are given as data')
    return
  }
  return malformed('other-part')
}

function checkMessage(call: Call, message: unknown, places: readonly string[]): void {
  const malformed = (description: string, kind: string) =>
    call.refuse('400-malformed-messages', 400, 'BadRequest', { description, kind: [kind, ...places] })
  if (!isMembers(message)) return malformed('A message is an object', message === null ? 'item-null' : 'item')
  const { role, content } = message
  if (role === undefined) return malformed('A message has a role', 'no-role')
  if (typeof role !== 'string' || !roles.has(role)) {
    call.refuse('400-invalid-role', 400, 'BadRequest', {
      description: `No role ${JSON.stringify(role)}`,
      kind: [jsonType(role), ...lengthened(role, roles), ...places],
    })
  }
  if (Array.isArray(content)) {
    for (const [at, part] of content.entries()) checkPart(call, part, at > 0 ? [...places, 'later-part'] : places)
    const onlyText = content.every((part: Members) => part['type'] === 'text')
    if (call.broken('200-text-parts#two') && onlyText && content.length > 1)
      call.reject(400, 'BadRequest', 'content is one part')
    if (call.broken('200-text-parts') && onlyText) call.reject(400, 'BadRequest', 'content is a string')
  } else if (typeof content !== 'string' && content !== null) {
    malformed('content is a string or an array of parts', `content-${jsonType(content)}`)
  }
}

/** Checks `messages` (§2.8). */
export function checkMessages(call: Call): void {
  const { messages } = call.body
  if (!Array.isArray(messages) || messages.length === 0) {
    return call.refuse('400-malformed-messages', 400, 'BadRequest', {
      description: 'messages is an array',
      kind: jsonType(messages),
    })
  }
  for (const [at, message] of messages.entries()) {
    const places = [...(at < messages.length - 1 ? ['earlier'] : []), ...(at > 0 ? ['second'] : [])]
    checkMessage(call, message, places)
  }
}

/** All text of the messages, their parts included. */
export function textOfMessages(call: Call): string {
  const messages = call.body['messages'] as readonly Members[]
  const parts = messages.flatMap(({ content }) =>
    Array.isArray(content) ? (content as Members[]) : [{ text: content }],
  )
  return parts.map((part) => (typeof part['text'] === 'string' ? part['text'] : '')).join('\n')
}
