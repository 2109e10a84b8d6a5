import { object, text, type Fitting, defined, type Schema } from '../../schemas/closed.ts'
import { member, filled, list, objectOr } from './values.ts'

const inputForm = object({
  id: member('Name of the application input.', filled, 'topic'),
  value: member('Texts.', list(text), ['tea']),
})
/** An item of `inputs` of a job (§2.5); further members are the application's own. */
type ApplicationInput = Fitting<typeof inputForm> & { readonly [member: string]: unknown }

export const applicationForm = object(
  {
    id: member('Id of the application.', filled, '<application id>'),
    inputs: member(
      'Inputs with which a job is accepted.',
      list<ApplicationInput>({ ...inputForm, additionalProperties: true }),
      [{ id: '<input id>', value: ['tea'] }],
    ),
  },
  {
    requiredInputs: member(
      'Ids of those inputs without which a job is refused.',
      list(filled, { minItems: 1, uniqueItems: true }),
      ['topic'],
    ),
  },
)
/** An application on which jobs may be created, and inputs that it accepts. */
export type ApplicationValue = Readonly<Fitting<typeof applicationForm>>
const application = defined<ApplicationValue>('application')

const pdfForms = 'the id of a file or {"upload": "path"}'
const upload = object({
  upload: member('Path of a PDF that the suite uploads.', filled, 'sample.pdf'),
})
/** The id of a file, or the path of one to upload. */
export type PdfValue = string | Readonly<Fitting<typeof upload>>
export const pdfForm: Schema<PdfValue> = objectOr(pdfForms, { title: pdfForms, ...upload }, filled)
const pdf = defined<PdfValue>('pdf')

export const resources = object(
  {},
  {
    application: member('The application that jobs are created on.', application),
    otherApplication: member(
      'A second application: a job of the first must not block it.',
      application,
    ),
    slowApplication: member(
      'An application whose job stays in progress long enough for two more requests (over a network 1 s or more).',
      application,
    ),
    failingApplication: member('An application whose job ends as failed.', application),
    job: member('Id of an existing job; lets --read-only judge jobs.retrieve.', filled),
    pdfFile: member('A PDF that can be parsed.', pdf),
    pdfText: member(
      'Words that the declared pdfFile is known to hold, in their order: at least five.',
      filled,
    ),
    corruptedPdfFile: member('A corrupted PDF.', pdf),
    encryptedPdfFile: member('A PDF that is protected by a password.', pdf),
    oversizedPdfFile: member('A PDF over the size limit.', pdf),
    file: member('Id of an existing file.', filled),
    deletedFile: member('Id of a file that was deleted or has expired.', filled),
    graph: member('Id of an existing knowledge graph.', filled),
  },
)
export type ResourceValues = Readonly<Fitting<typeof resources>>
