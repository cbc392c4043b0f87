import CPostgreSQL
import CoreDataSQL
import Foundation

/// One session on a server, in pipeline mode: what is sent waits until something is asked for.
///
/// ```
///  BEGIN, UPDATE …, UPDATE …, sync ──▶ server        one round trip
///  what came of each, in order     ◀──
/// ```
/// ``PipelineState`` decides what is sent next and what answers mean; the session does it with libpq:
///
/// | File | |
/// | --- | --- |
/// | `+Statements` | preparing, executing and querying |
/// | `+Sending` | the steps before something is sent |
/// | `+Groups` | statements that are sent as one |
/// | `+Answers` | reading answers, failures, and requests to cancel |
/// | `+Transactions` | beginning, committing, rolling back, locks, attempts |
/// | `+Schema` | the number of the schema |
/// | `+Copying` | `COPY`, outside the pipeline |
/// | `+Probing` | whether the server still answers |
final class PostgreSQLConnection: SQLConnection {
    private(set) var dialect: SQLDialect
    /// What is at the other end, and what that can.
    private(set) var engine: PostgreSQLEngine
    private(set) var traits: ServerTraits
    let handle: OpaquePointer
    /// Who is shown the statements.
    var observer: (any SQLObserver)?
    /// Cancels what the session waits for.
    let cancellation: PostgreSQLCancellation
    /// Where the time is had from.
    let clock: PostgreSQLClock
    /// The schema, and how long to wait for a lock.
    let settings: [SQLValue]
    /// What triggers tell.
    let notices = Notices()

    // Whoever has the connection has it alone, and what is marked is touched by nothing that it calls.
    @exclusivity(unchecked) var pipeline = PipelineState()
    @exclusivity(unchecked) var known = SessionStatements()
    /// The copy that the session is in.
    var copying: CopyInProgress?
    private var companions: [AnyObject?] = []

    /// What locks the schema.
    private(set) var locks: (alone: String, beside: String)?
    /// What the server knows the session by.
    private(set) var session: ServerSession?
    /// Whether the store has the table in which transactions note that they are committed, as far as is known.
    var hasCommits = false
    /// Whether the store has the row that is locked where nothing else can be, as far as is known.
    var hasMetadata = false
    /// Whether the number of the schema is a function's, once that is known.
    var hasSchemaNumber: Bool?

    /// How often the caller was given an answer of the server's.
    var answerCount = 0

    /// Opens a session.
    ///
    /// - Throws: ``SQLFailure`` that names the server, never the password.
    init(_ options: PostgreSQLOptions) throws {
        var address = options.address
        if !address.hasPassword, let password = try options.password?() { address.setPassword(password) }
        handle = try Self.open(address, timeout: options.connectTimeout)
        engine = address.engine ?? (PQparameterStatus(handle, "crdb_version") == nil ? .postgreSQL : .cockroachDB)
        traits = options.traits(of: engine)
        dialect = traits.dialect(options.dialect)
        settings = [.text(address.schema), .text(String(options.lockMilliseconds))]
        clock = options.clock
        cancellation = PostgreSQLCancellation(handle, limit: options.cancelTimeout, clock: options.clock)
        PQsetNoticeReceiver(handle, Notices.receive, Unmanaged.passUnretained(notices).toOpaque())
        guard PQenterPipelineMode(handle) == 1 else {
            let failure = SQLFailure.lost(handle)
            close()
            throw failure
        }
        do { try meet(address, options) } catch {
            close()
            throw error
        }
    }

    /// Tells the server what the session is to be, and asks who it is.
    private func meet(_ address: PostgreSQLAddress, _ options: PostgreSQLOptions) throws {
        // A pooler makes numbers of its own up, which may be negative.
        let number: Int64? = address.pooler == nil && traits.knowsSessions ? Int64(PQbackendPID(handle)) : nil
        let expected = number ?? (address.pooler == .transaction ? -1 : 0)
        let row = try once(
            ServerText.useSchema(
                knowsSessions: traits.knowsSessions, locksByNumber: traits.locksByNumber,
                setsTransactions: traits.setsTransactions),
            [settings[0], .text(String(expected)), settings[1]])
        guard row.count > 9 else { throw broken(nil) }
        // Such a schema looks as if nothing were in it.
        if row[5] == .integer(0) { throw Self.forbidden(address) }
        if address.engine == nil, case .text(let version) = row[6] {
            engine = .of(version: version)
            traits = options.traits(of: engine)
            dialect = traits.dialect(options.dialect)
        }
        if case .integer(let number) = row[7] {
            locks = (ServerText.lockAlone(number), ServerText.lockBeside(number))
        }
        guard traits.knowsSessions, let session = ServerSession(process: row[8], start: row[9]) else { return }
        if let number, session.process != number { throw Self.poolerInTheWay(address) }
        if traits.keepsSessions { self.session = session }
    }

    /// Ends the session; called once.
    func close() {
        known.table.removeAll()
        companions.removeAll()
        PQfinish(handle)
    }

    /// Whether the server is gone, or nobody knows what it will say next.
    var isBroken: Bool { pipeline.isBroken }

    /// What is to be noted of a statement that is sent now.
    var observation: StatementObservation? { observer.map { StatementObservation($0, start: clock.now()) } }

    func companion(_ number: Int) -> AnyObject? { number < companions.count ? companions[number] : nil }

    func keep(_ companion: AnyObject, as number: Int) {
        while companions.count <= number { companions.append(nil) }
        companions[number] = companion
    }

    var derivedAttributeReports: [DerivedAttributeReport] { notices.reports }
}
