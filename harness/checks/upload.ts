import { uploadOperation } from '../../catalogue/operations.ts'
import { isGranted } from '../engine/response.ts'
import { sendWithRetries } from '../engine/send-with-retries.ts'
import type { Exchange } from '../engine/exchange.ts'
import { leftOut } from '../report/reason.ts'
import { NotExercised, pause } from '../engine/outcome.ts'
import type { Run } from '../engine/run.ts'
import { describeResponse } from '../engine/describe.ts'
import type { Probe } from '../engine/probe.ts'
import { operationProbe } from '../engine/operation-probe.ts'
import { sendPastBlocks, uploadsOf } from './settling.ts'
import { createdId } from './created.ts'

export interface UploadedFile {
  readonly bytes: Uint8Array
  readonly filename: string
  readonly contentType: string
}

/** `report.pdf` → `report-k3x9a2.pdf`: what a run creates has a name of its own. */
function freshName(filename: string, suffix: string): string {
  const dot = filename.lastIndexOf('.')
  return dot > 0 ? `${filename.slice(0, dot)}-${suffix}${filename.slice(dot)}` : `${filename}-${suffix}`
}

/** Header values are ASCII: any other name is added beside a plain one, as RFC 8187 writes it. */
function attachmentOf(name: string): string {
  const plain = name.replaceAll(/[^\x20-\x7e]/g, '_').replaceAll(/["\\]/g, '\\$&')
  const ascii = /^[\x20-\x7e]*$/.test(name)
  return `attachment; filename="${plain}"${ascii ? '' : `; filename*=UTF-8''${encodeURIComponent(name)}`}`
}

/** An upload (§2.8): raw bytes, their media type, and the file name as an attachment. */
export async function uploadProbe(
  run: Run,
  file: UploadedFile,
  query: Readonly<Record<string, string>> = {},
): Promise<Probe> {
  const name = freshName(file.filename, run.objects.suffix())
  const probe = await operationProbe(run, uploadOperation, {
    query,
    headers: [
      { name: 'content-type', value: file.contentType },
      { name: 'content-disposition', value: attachmentOf(name) },
    ],
    effect: 'creates',
  })
  return { ...probe, body: file.bytes, creates: name }
}

/** So many white-space characters, each a bit of a number, are as long as any other mark. */
const markLength = 16

/**
 * The file with content of its own, as long as every other one of these: a server may know a file by its content. What
 * is no plain text gets white space at its end, which no format takes for content.
 */
export function withOwnContent(run: Run, file: UploadedFile): UploadedFile {
  const suffix = run.objects.suffix()
  const bits = parseInt(suffix.slice(-4), 36).toString(2).padStart(markLength, '0').slice(-markLength)
  const isText = /^text\/(plain|markdown)/i.test(file.contentType)
  const mark = isText ? `\n${suffix}\n` : bits.replaceAll('0', ' ').replaceAll('1', '\n')
  return { ...file, bytes: Buffer.concat([file.bytes, Buffer.from(mark)]) }
}

function isUploaded({ response }: Exchange): boolean {
  return response !== undefined && isGranted(response)
}

function problemOf(exchange: Exchange): string {
  return isUploaded(exchange)
    ? `the answer to an upload names no id at operations.${uploadOperation}.fields.id`
    : 'a file that the suite uploads was refused'
}

/** Uploads a file and gives its id; throws `NotExercised` if the upload is refused or names no id. */
export async function upload(run: Run, file: UploadedFile, query?: Readonly<Record<string, string>>): Promise<string> {
  if (run.options.readOnly) throw new NotExercised(leftOut('--read-only'))
  const purpose = { requirement: null, role: 'setup', isSuccess: isUploaded } as const
  const exchange = await sendPastBlocks(() => sendWithRetries(run, () => uploadProbe(run, file, query), purpose))
  const id = createdId(run, exchange)
  if (exchange.throttled) throw new NotExercised(`throttled: an upload was answered ${describeResponse(exchange)}`)
  if (id === undefined) throw new NotExercised(`${problemOf(exchange)}: ${describeResponse(exchange)}`)
  const uploads = uploadsOf(run)
  uploads.at.set(id, exchange.endedAt)
  if (uploads.lagMs > 0) await pause(run, uploads.lagMs)
  return id
}
