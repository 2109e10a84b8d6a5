import { isObject } from '../schemas/json-object.ts'

/**
 * A body as a HAR holds it. `whole`: all of it; `cut`: the recorder says, or the length shows, that an end is missing;
 * `missing`: it was not recorded, or not decoded.
 */
export interface HarBody {
  readonly state: 'whole' | 'cut' | 'missing'
  readonly bytes: Uint8Array
  /** Bytes of the whole body and its SHA-256 in hex, if it was cut and the recorder says so. */
  readonly length?: number
  readonly sha256?: string
}

export const noBody: HarBody = { state: 'whole', bytes: new Uint8Array() }
const missing: HarBody = { state: 'missing', bytes: new Uint8Array() }

/** Header of a message, by lower-case name. */
type Header = (name: string) => string | undefined

/** The body of an answer (`content`), or of a request (`postData`, whose size is in another member). */
export function harBody(holder: unknown, header: Header, declaredSize?: unknown): HarBody {
  const content = isObject(holder) ? holder : {}
  const { text, comment } = content
  const size = content['size'] ?? declaredSize
  if (typeof text !== 'string') return header('content-length') === '0' ? noBody : missing
  // Browsers leave an empty text if they did not keep the body.
  if (text === '' && Number(header('content-length') ?? 0) > 0) return missing
  const base64 = (content['encoding'] ?? content['_encoding']) === 'base64'
  const bytes = Buffer.from(text, base64 ? 'base64' : 'utf8')
  const remarked = typeof comment === 'string' && comment !== ''
  if (content['_cut'] === true || remarked || (typeof size === 'number' && size > bytes.length)) {
    return { state: 'cut', bytes, ...wholeOf(content, size) }
  }
  return base64 && isEncoded(bytes, header) ? missing : { state: 'whole', bytes }
}

function wholeOf(content: Record<string, unknown>, size: unknown): Pick<HarBody, 'length' | 'sha256'> {
  const length = content['_bodyLength'] ?? size
  const sha256 = content['_bodySha256']
  return {
    ...(typeof length === 'number' && length >= 0 ? { length } : {}),
    ...(typeof sha256 === 'string' && /^[0-9a-f]{64}$/.test(sha256) ? { sha256 } : {}),
  }
}

/** Some recorders keep a compressed body as it came. */
function isEncoded(bytes: Uint8Array, header: Header): boolean {
  const coding = header('content-encoding') ?? 'identity'
  if (coding === '' || coding === 'identity') return false
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return false
  } catch {
    return true
  }
}
