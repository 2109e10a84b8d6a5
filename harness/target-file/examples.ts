/** What a target file may hold beside its operations: pasted from reasons, so that each fits the schema. Angle brackets are to be filled in. */
const application = { id: '<application id>', inputs: [{ id: '<input id>', value: ['tea'] }] }

export const resourceExamples = {
  application,
  otherApplication: application,
  slowApplication: application,
  failingApplication: application,
  job: '<job id>',
  pdfFile: '<file id>',
  pdfText: '<words of that PDF>',
  corruptedPdfFile: { upload: 'corrupted.pdf' },
  encryptedPdfFile: { upload: 'encrypted.pdf' },
  oversizedPdfFile: { upload: 'oversized.pdf' },
  file: '<file id>',
  deletedFile: '<file id>',
  graph: '<graph id>',
}

export const contentExample = { content: { text: 'Tea is a drink.' }, contentType: 'text/plain', filename: 'tea.txt' }

export const keyExamples: Readonly<Record<string, string>> = {
  full: 'CONFORM_API_KEY',
  expired: 'CONFORM_KEY_EXPIRED',
  restricted: 'CONFORM_KEY_RESTRICTED',
}
