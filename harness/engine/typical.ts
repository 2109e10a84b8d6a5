import type { Depth } from '../report/model.ts'

/**
 * Of the most that a run may send for an operation, the part that it sent when a conforming server was judged whole: polls end
 * when a job does, generated cases are not all sent to each operation, and nothing is sent again. Measured with the reference,
 * whose jobs last a second or less; tests/matrix holds it to what is sent.
 */
const shares: Readonly<Record<string, Readonly<Record<Depth, number>>>> = {
  'pdf.parse': { full: 0.81, quick: 0.93 },
  'jobs.create': { full: 0.39, quick: 0.09 },
  'jobs.retrieve': { full: 0.03, quick: 0.01 },
  'completion.create': { full: 0.25, quick: 0.94 },
  'chat.create': { full: 0.38, quick: 0.76 },
  'files.upload': { full: 0.78, quick: 0.41 },
  'files.list': { full: 0.38, quick: 0.37 },
  'files.retrieve': { full: 0.88, quick: 0.46 },
  'graphs.create': { full: 0.28, quick: 0.57 },
  'graphs.add-file': { full: 0.27, quick: 0.43 },
  'graphs.query': { full: 0.27, quick: 0.51 },
  'applications.create': { full: 0.3, quick: 0.52 },
  'ai-detect.run': { full: 0.2, quick: 1 },
  'web-search.run': { full: 0.2, quick: 1 },
  'medical.comprehend': { full: 0.21, quick: 1 },
  'translate.run': { full: 0.23, quick: 0.91 },
  'vision.analyze': { full: 0.29, quick: 0.9 },
  envelope: { full: 0.85, quick: 0.5 },
}

/** How many requests a run that may send so many for an operation usually sends. */
export function typicalOf(operation: string, most: number, depth: Depth): number {
  return Math.ceil(most * (shares[operation]?.[depth] ?? 1))
}
