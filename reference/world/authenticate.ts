import { isAlias } from './aliases.ts'
import type { Call } from './call.ts'
import { damageOf } from './key-damage.ts'
import { verify } from './keys.ts'

function malformedKind(header: string): string {
  if (/^eyJ/.test(header)) return 'no-scheme'
  if (/^Bearer *$/i.test(header)) return 'bearer-alone'
  return /^Bearer /i.test(header) ? 'word' : 'other-scheme'
}

/** §5.1, §5.2: a bearer key that is one of ours and has not expired. */
export async function authenticate(call: Call): Promise<void> {
  const header = call.request.header('authorization')
  if (header === undefined) {
    const kind = isAlias(call.request.path) ? 'alias' : []
    call.refuse('401-missing-credentials', 401, 'BadCredentials', { kind })
  }
  const token = /^Bearer +(\S+)$/i.exec(header)?.[1]
  // Every JWT begins so, in whatever letter case a damaged one arrives: it is an object in base64url.
  if (token === undefined || !/^eyJ/i.test(token)) {
    call.refuse('401-malformed-key', 401, 'BadCredentials', { kind: malformedKind(header) })
  }
  const key = await verify(token)
  if (key === 'expired') call.refuse('401-expired-key', 401, 'BadToken')
  if (key === 'invalid') call.refuse('401-invalid-key', 401, 'BadToken', { kind: damageOf(token) })
  call.key = key
}

/** §5.3: the key has the permission that the operation needs. */
export function authorize(call: Call): void {
  const permissions = call.key?.permissions ?? []
  if (!permissions.includes('*') && !permissions.includes(call.operation)) {
    call.refuse('403-insufficient-rights', 403, 'InsufficientAccessRights')
  }
}
