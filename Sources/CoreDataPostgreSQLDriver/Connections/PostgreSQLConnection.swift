import CPostgreSQL
import CoreDataSQL
import Foundation

/// A session on a server in pipeline mode: statements are queued, and sent when the first result is needed.
///
/// ```
///  BEGIN, UPDATE …, UPDATE …, sync ──▶ server        one round trip
///  results in order                ◀──
/// ```
/// ``PipelineState`` decides what is sent next and interprets the answers; the session performs it with libpq:
///
/// | File | |
/// | --- | --- |
/// | `+Statements` | preparing, executing and querying |
/// | `+Sending` | the steps before something is sent |
/// | `+Groups` | statements that are sent as one |
/// | `+Answers` | reading answers, failures, cancel requests |
/// | `+Transactions` | beginning, committing, rolling back, locks, attempts |
/// | `+Schema` | the schema version |
/// | `+Copying` | `COPY`, outside the pipeline |
/// | `+Probing` | whether the server still answers |
final class PostgreSQLConnection: SQLConnection {
    private(set) var dialect: SQLDialect
    /// The kind of server and its capabilities.
    private(set) var engine: PostgreSQLEngine
    private(set) var traits: ServerTraits
    let handle: OpaquePointer
    /// The observer of the statements.
    var observer: (any SQLObserver)?
    /// Cancels the results that the session waits for.
    let cancellation: PostgreSQLCancellation
    /// The source of time.
    let clock: PostgreSQLClock
    /// The schema, and the lock timeout.
    let settings: [SQLValue]
    /// The notices of triggers.
    let notices = Notices()

    // One client at a time holds the connection, and no callback occurs while a marked property changes.
    @exclusivity(unchecked) var pipeline = PipelineState()
    @exclusivity(unchecked) var known = SessionStatements()
    /// The COPY in progress.
    var copying: CopyInProgress?
    private var companions: [AnyObject?] = []

    /// The statements that lock the schema.
    private(set) var locks: (alone: String, beside: String)?
    /// The session's identity on the server.
    private(set) var session: ServerSession?
    /// Whether the store has the table in which transactions record their commit, as far as known.
    var hasCommits = false
    /// Whether the store has the row that is locked if the server has no advisory locks, as far as known.
    var hasMetadata = false
    /// Whether a function returns the schema version; `nil` if unknown.
    var hasSchemaNumber: Bool?

    /// The number of answers of the server that the caller received.
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
        do { try configureSession(address, options) } catch {
            close()
            throw error
        }
    }

    /// Sends the session's settings, and asks for the server's version and identity.
    private func configureSession(_ address: PostgreSQLAddress, _ options: PostgreSQLOptions) throws {
        // A pooler invents process IDs, which may be negative.
        let number: Int64? = address.pooler == nil && traits.knowsSessions ? Int64(PQbackendPID(handle)) : nil
        let expected = number ?? (address.pooler == .transaction ? -1 : 0)
        let row = try once(
            ServerText.useSchema(
                knowsSessions: traits.knowsSessions, locksByNumber: traits.locksByNumber,
                setsTransactions: traits.setsTransactions),
            [settings[0], .text(String(expected)), settings[1]])
        guard row.count > 9 else { throw broken(nil) }
        // Without permission, the schema would appear empty.
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

    /// Whether the connection is lost, or its state is unknown.
    var isBroken: Bool { pipeline.isBroken }

    /// The observation of a statement that is sent now.
    var observation: StatementObservation? { observer.map { StatementObservation($0, start: clock.now()) } }

    func companion(_ number: Int) -> AnyObject? { number < companions.count ? companions[number] : nil }

    func keep(_ companion: AnyObject, as number: Int) {
        while companions.count <= number { companions.append(nil) }
        companions[number] = companion
    }

    var derivedAttributeReports: [DerivedAttributeReport] { notices.reports }
}
