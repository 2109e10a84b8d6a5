import { isGranted } from '../engine/answer.ts'
import { ask } from '../engine/ask.ts'
import { getAt } from '../../schemas/pointer.ts'
import { leftOut } from '../report/left-out.ts'
import { NotExercised } from '../engine/outcome.ts'
import { pause } from '../engine/pause.ts'
import type { Run } from '../engine/run.ts'
import { describeAnswer } from '../engine/describe.ts'
import type { Exchange } from '../engine/exchange.ts'
import { operationProbe } from '../engine/operation-probe.ts'
import type { Probe } from '../engine/probe.ts'
import { usableId } from '../engine/usable-id.ts'

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

/** Header values are ASCII: another name stands beside a plain one, as RFC 8187 writes it. */
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
  const name = freshName(file.filename, run.suffix())
  const probe = await operationProbe(run, 'files.upload', {
    query,
    headers: [
      { name: 'content-type', value: file.contentType },
      { name: 'content-disposition', value: attachmentOf(name) },
    ],
    effect: 'creates',
  })
  return { ...probe, body: file.bytes, creates: name }
}

/** The id of the object that a granted creation made, where the target declares that it stands; undefined where it is none. */
export function createdId(run: Run, exchange: Exchange): string | undefined {
  const { answer, probe } = exchange
  if (!answer || probe.operation === null || !isGranted(answer)) return undefined
  const json = answer.json()
  const id = json.ok ? getAt(json.value, run.target.operations[probe.operation]?.fields['id'] ?? '/id') : undefined
  return usableId(typeof id === 'number' ? String(id) : id)
}

/** Uploads a file and gives its id; throws `NotExercised` where the upload is refused or names no id. */
export async function upload(run: Run, file: UploadedFile, query?: Readonly<Record<string, string>>): Promise<string> {
  if (run.options.readOnly) throw new NotExercised(leftOut('--read-only'))
  const exchange = await ask(run, () => uploadProbe(run, file, query), { requirement: null, role: 'setup' })
  const id = createdId(run, exchange)
  if (id === undefined) throw new NotExercised(`a file that the suite uploads was refused: ${describeAnswer(exchange)}`)
  run.uploads.set(id, exchange.endedAt)
  if (run.uploadLag.ms > 0) await pause(run, run.uploadLag.ms)
  return id
}
