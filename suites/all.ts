/** Every suite of the interface: importing this says how each requirement is judged. */
import './every-operation.suite.ts'
import './envelope.suite.ts'
import './jobs-create.suite.ts'
import './jobs-retrieve.suite.ts'
import './pdf-parse.suite.ts'
import './completion-create.suite.ts'
import './chat-create.suite.ts'
