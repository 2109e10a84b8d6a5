import type { OperationId } from '../../catalogue/operations.ts'
import type { Place } from './place.ts'

/** What a conforming server may do to its responses, and if that stands in the spec. */
interface Allowance {
  /** Operations that it is of; absent for all. */
  readonly of?: readonly OperationId[]
  readonly except?: readonly OperationId[]
  /** `change` as `nameOf` writes it. */
  readonly change: RegExp
  readonly why: string
}

const shown: readonly OperationId[] = ['pdf.parse', 'jobs.create', 'jobs.retrieve', 'chat.create', 'medical.comprehend']
const jobs: readonly OperationId[] = ['jobs.create', 'jobs.retrieve']
const labelled: readonly OperationId[] = ['pdf.parse', ...jobs]

const creating: readonly OperationId[] = ['files.upload', 'graphs.create', 'graphs.add-file', 'applications.create']
const notShown = 'payloads of §4.4 are not shown'

const always: readonly Allowance[] = [
  { change: / (added|reordered)$/, why: 'members that are not shown, in any order (§2)' },
]

const ofSuccess: readonly Allowance[] = [
  { except: [...shown, ...creating], change: /^(?!status|body replaced: an envelope)/, why: notShown },
  // Where the id of what is created stands, the target file says.
  { of: creating, change: /^(?!status|body replaced: an envelope|id )/, why: notShown },
  { except: labelled, change: /^status changed: 2/, why: 'any 2xx: §4.4 names none' },
  { except: labelled, change: /^content type/, why: 'no content type is named for §4.4' },
  { of: ['jobs.retrieve'], change: /^data\//, why: 'members of data are the application’s own (§2.3)' },
  {
    of: ['jobs.retrieve'],
    change: /^(updated_at|completed_at|data|error) (dropped|renamed)$/,
    why: 'optional (§2.3)',
  },
  { of: ['jobs.retrieve'], change: /^error (cut|emptied|replaced)$/, why: 'any text (§2.3)' },
  {
    of: ['chat.create'],
    change: /^(?!choices)\w+(\/.*)? \w+$/,
    why: 'members beyond choices are not shown (§2.8)',
  },
  {
    of: ['chat.create'],
    change: /^choices\/0\/(?!message[ /])|^choices\/0\/message\/(?!content |llm_data[ /])/,
    why: 'members that §2.8 does not name',
  },
  { of: ['chat.create'], change: /^choices repeated$/, why: 'only the first choice is named (§2.8)' },
  {
    of: ['chat.create'],
    change: /^choices\/0\/message\/llm_data\/(prompt|model) (cut|emptied|replaced)$/,
    why: 'generated text varies (§2.8)',
  },
  {
    of: ['medical.comprehend'],
    change: /^(?!entities)\w+(\/.*)? \w+$|^entities (emptied|repeated)$|^entities\/\d+ dropped$/,
    why: 'as many entities as there are (§2.8)',
  },
  {
    of: ['medical.comprehend'],
    change: /^entities\/\d+\/((category|text) (cut|emptied|replaced)$|traits (emptied|repeated)$|traits\/)/,
    why: 'any text, any traits (§2.8)',
  },
]

const ofErrors: readonly Allowance[] = [
  { change: /^errors (emptied|repeated)$|^errors\/\d+ dropped$/, why: 'as many messages as there are (§2.6)' },
  {
    change: /^errors\/\d+\/(description|key|extras) (dropped|renamed)$/,
    why: '§2.6 has only tpe, errors and extras always present',
  },
  { change: /^errors\/\d+\/(description|key) (cut|emptied|replaced)$/, why: 'any description, keys beyond §7.1' },
  { change: /^(errors\/\d+\/)?extras\//, why: 'extras are open (§2.6)' },
  { change: /^errors\/\d+\/(?!(description|key|extras)[ /])/, why: 'members that §2.6 does not show' },
  { change: /^(?!tpe|errors|extras|status|content type|body)\w+[ /]/, why: 'members that §2.6 does not show' },
]

/** What one answer may have to do with its request. */
const ofStates: readonly Allowance[] = [
  { change: /^done, and no answer$/, why: 'connections break' },
  { change: /: (429|503) \w+$/, why: 'a target may throttle any request' },
]
const ofGrantedStates: readonly Allowance[] = [{ except: shown, change: /again: 2\d\d$/, why: notShown }]

function allowances({ subject, signature, status }: Omit<Place, 'alter' | 'allowed'>): readonly Allowance[] {
  if (subject === 'form') return [...always, ...(status < 300 ? ofSuccess : ofErrors)]
  return [...(signature === undefined ? [] : ofStates), ...(subject === 'state' && status < 300 ? ofGrantedStates : [])]
}

/** Why a conforming server may do it; undefined if it may not. */
export function allowance(place: Omit<Place, 'alter' | 'allowed'>): string | undefined {
  const { operation, name } = place
  const fits = ({ of, except, change }: Allowance): boolean =>
    (of?.includes(operation) ?? true) && !except?.includes(operation) && change.test(name)
  return allowances(place).find(fits)?.why
}
