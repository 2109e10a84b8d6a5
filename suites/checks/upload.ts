import {
  describeResponse,
  type Exchange,
  isBreakdown,
  isGranted,
  NotExercised,
  type Probe,
  Throttled,
} from '../../harness/journal/index.ts'
import { type Given, type Client, operationProbe, pause } from '../../harness/client/index.ts'
import { askHolding } from '../../harness/run/index.ts'
import type { UploadContent } from '../../harness/target/index.ts'
import { uploadOperation } from '../../catalogue/operations.ts'
import { leftOut } from '../../harness/report/index.ts'
import { namedId, resendWhile, sharedBy } from './created.ts'

export function freshFilename(given: Given, filename: string): string {
  const dot = filename.lastIndexOf('.')
  const at = dot > 0 ? dot : filename.length
  return `${filename.slice(0, at)}-${given.objects.suffix()}${filename.slice(at)}`
}

/** Header values are ASCII: other names are added in RFC 8187 encoding. */
function attachmentOf(name: string): string {
  const plain = name.replaceAll(/[^\x20-\x7e]/g, '_').replaceAll(/["\\]/g, '\\$&')
  const ascii = /^[\x20-\x7e]*$/.test(name)
  return `attachment; filename="${plain}"${ascii ? '' : `; filename*=UTF-8''${encodeURIComponent(name)}`}`
}

/** An upload (§2.8): raw bytes, media type, and the file name as an attachment. */
export async function uploadProbe(
  given: Given,
  file: UploadContent,
  name = freshFilename(given, file.filename),
): Promise<Probe> {
  const probe = await operationProbe(given, uploadOperation, {
    headers: [
      { name: 'content-type', value: file.contentType },
      { name: 'content-disposition', value: attachmentOf(name) },
    ],
    effect: 'creates',
  })
  return { ...probe, body: file.bytes, creates: name }
}

/** Number of white-space characters in a mark, one bit each. */
const markLength = 16

/**
 * The file with unique content of constant length, since a server may identify files by content. Files other than plain
 * text get trailing white space, which every format ignores.
 */
export function withOwnContent(given: Given, file: UploadContent): UploadContent {
  const suffix = given.objects.suffix()
  const bits = parseInt(suffix.slice(-4), 36)
    .toString(2)
    .padStart(markLength, '0')
    .slice(-markLength)
  const isText = /^text\/(plain|markdown)/i.test(file.contentType)
  const mark = isText ? `\n${suffix}\n` : bits.replaceAll('0', ' ').replaceAll('1', '\n')
  return { ...file, bytes: Buffer.concat([file.bytes, Buffer.from(mark)]) }
}

/** Repeats an upload unchanged if one with unique content was refused: a format may not allow the addition. */
export const resendAsDeclared = (own: Exchange, send: () => Promise<Exchange>): Promise<Exchange> =>
  resendWhile(own, send, (one) => [400, 415, 422].includes(one.response?.status ?? 0), 2)

const isUploaded = (exchange: Exchange): boolean =>
  exchange.response !== undefined && isGranted(exchange.response)

/**
 * Uploads a file with unique content, else unchanged, and returns its id. Throws `NotExercised` if the upload is
 * refused or has no id.
 * @param isSound whether the file is valid, so that a 5xx is a fault
 * @param name upload name, by default a new one
 */
export async function upload(
  client: Client,
  given: Given,
  file: UploadContent,
  isSound = true,
  name?: string,
): Promise<string> {
  if (given.options.readOnly) throw new NotExercised(leftOut('--read-only'))
  const what = `with ${file.filename}`
  const purpose = { requirement: null, role: 'setup', what, isSuccess: isUploaded } as const
  const uploaded = async (content: UploadContent): Promise<Probe> => {
    const probe = await uploadProbe(given, content, name)
    return isSound ? probe : { ...probe, fault: `file: ${file.filename}` }
  }
  const send = (content: () => UploadContent): Promise<Exchange> =>
    askHolding(client, () => uploaded(content()), purpose)
  const own = await send(() => withOwnContent(given, file))
  const exchange = await resendAsDeclared(own, () => send(() => file))
  const { uploads, wronglyRefused } = sharedBy(client)
  if (isSound && exchange.response && isBreakdown(exchange.response)) wronglyRefused.push(exchange)
  if (exchange.throttled) throw new Throttled(`an upload got ${describeResponse(exchange)}`)
  if (!isUploaded(exchange))
    throw new NotExercised(
      `a file that the suite uploads was refused: ${describeResponse(exchange)}`,
    )
  const id = namedId(given, exchange)
  uploads.at.set(id, exchange.endedAt)
  if (uploads.lagMs > 0) await pause(client, uploads.lagMs)
  return id
}
