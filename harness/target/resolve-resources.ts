import { basename } from 'node:path'
import type { ApplicationResource, ApplicationValue, PdfValue, Resources, TargetFile, Upload } from './model.ts'
import { readNamedFile } from './read-file.ts'

const pdfs = ['pdfFile', 'corruptedPdfFile', 'encryptedPdfFile', 'oversizedPdfFile'] as const
const applications = ['application', 'otherApplication', 'slowApplication', 'failingApplication'] as const

/** The declared objects, the files to upload read. */
export async function resolveResources(dir: string, { resources = {} }: TargetFile): Promise<Resources> {
  const { job, pdfText, file, deletedFile, graph } = resources
  const uploads: Partial<Record<(typeof pdfs)[number], string | Upload>> = {}
  for (const name of pdfs) {
    const value = resources[name]
    if (value !== undefined) uploads[name] = await resolvePdf(dir, `resources.${name}`, value)
  }
  const declared = applications.flatMap((name) => {
    const value = resources[name]
    return value ? [[name, withRequired(value)] as const] : []
  })
  return {
    ...Object.fromEntries(declared),
    ...uploads,
    ...(job !== undefined && { job }),
    ...(pdfText !== undefined && { pdfText }),
    ...(file !== undefined && { file }),
    ...(deletedFile !== undefined && { deletedFile }),
    ...(graph !== undefined && { graph }),
  }
}

function withRequired(value: ApplicationValue): ApplicationResource {
  return { ...value, requiredInputs: value.requiredInputs ?? [] }
}

async function resolvePdf(dir: string, member: string, value: PdfValue): Promise<string | Upload> {
  if (typeof value === 'string') return value
  return { bytes: await readNamedFile(dir, value.upload, member), filename: basename(value.upload) }
}
