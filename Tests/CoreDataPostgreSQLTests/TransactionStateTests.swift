import CoreDataSQL
import Testing

@testable import CoreDataPostgreSQLDriver

/// When a transaction begins and ends: events in, answers out, without a server.
@Suite struct TransactionStateTests {
    enum Event {
        case begin(String, commitsAtOnce: Bool = false)
        case takeBegin(String?)
        case didBegin
        case add(Int64)
        case takeNote(Int64?)
        case count(Int, isRefused: Bool = false, Bool)
        case commit(Bool)
        case didCommit
        case endReading(Bool)
        case rollBack(Bool)
        /// What is known of it by now.
        case state(isBegun: Bool, isOpen: Bool)
        case commitsAtOnce(Bool)
        case isWriting(Bool)
    }

    @Test(arguments: [
        // What nothing is sent in costs nothing.
        [Event.state(isBegun: false, isOpen: false), .commit(false), .endReading(false), .rollBack(false)],
        [.begin("B"), .state(isBegun: true, isOpen: false), .commit(false), .state(isBegun: false, isOpen: false)],
        [.begin("B"), .endReading(false), .takeBegin(nil)],
        [.begin("B"), .rollBack(false), .takeBegin(nil)],
        // It is begun once.
        [
            .begin("B"), .takeBegin("B"), .state(isBegun: false, isOpen: false), .didBegin, .takeBegin(nil),
            .state(isBegun: true, isOpen: true),
        ],
        // A commit that fails leaves it open, to be rolled back.
        [
            .begin("B"), .takeBegin("B"), .didBegin, .commit(true), .state(isBegun: true, isOpen: true),
            .rollBack(true), .state(isBegun: false, isOpen: false), .rollBack(false),
        ],
        [.begin("B"), .takeBegin("B"), .didBegin, .commit(true), .didCommit, .state(isBegun: false, isOpen: false)],
        [.begin("B"), .takeBegin("B"), .didBegin, .endReading(true), .state(isBegun: false, isOpen: false)],
        // A note is of its transaction, and is written once.
        [.begin("B"), .add(4), .takeNote(4), .takeNote(nil)],
        [.begin("B"), .add(4), .commit(false), .takeNote(nil)],
        [.begin("B"), .add(4), .takeBegin("B"), .didBegin, .rollBack(true), .takeNote(nil)],
        [.begin("B"), .add(4), .begin("B"), .takeNote(nil)],
        // Only what counts on one row goes with the commit, and what does not has all of it wait.
        [.begin("B", commitsAtOnce: true), .count(1, true), .commitsAtOnce(true), .count(2, false), .count(1, false)],
        [.begin("B", commitsAtOnce: true), .count(1, isRefused: true, false), .commitsAtOnce(false)],
        [.begin("B"), .count(1, false)],
        // The next one does not go with its commit for the last one's sake.
        [
            .begin("B", commitsAtOnce: true), .takeBegin("B"), .didBegin, .commitsAtOnce(true), .commit(true),
            .didCommit, .commitsAtOnce(false), .begin("B"), .commitsAtOnce(false),
        ],
        [.begin(ServerText.beginWriting), .isWriting(true), .begin(ServerText.beginReading), .isWriting(false)],
    ])
    func eventsAndAnswers(_ events: [Event]) {
        var state = TransactionState()
        for (index, event) in events.enumerated() {
            let place: Comment = "\(index): \(event)"
            switch event {
            case .begin(let sql, let commitsAtOnce): state.begin(sql, commitsAtOnce: commitsAtOnce)
            case .takeBegin(let expected): #expect(state.takeBegin() == expected, place)
            case .didBegin: state.didBegin()
            case .add(let number): state.add(TransactionState.Note(writer: 1, number: number))
            case .takeNote(let expected): #expect(state.takeNote()?.number == expected, place)
            case .count(let rows, let isRefused, let expected):
                #expect(state.commitsAtOnce(counting: rows, isRefused: isRefused) == expected, place)
            case .commit(let expected): #expect(state.commit() == expected, place)
            case .didCommit: state.didCommit()
            case .endReading(let expected): #expect(state.endReading() == expected, place)
            case .rollBack(let expected): #expect(state.rollBack() == expected, place)
            case .state(let isBegun, let isOpen):
                #expect(state.isBegun == isBegun && state.isOpen == isOpen, place)
            case .commitsAtOnce(let expected): #expect(state.commitsAtOnce == expected, place)
            case .isWriting(let expected): #expect(state.isWriting == expected, place)
            }
        }
    }

    /// What became of a commit is asked for after its transaction has ended, until another begins.
    @Test func theTokenOutlivesTheTransaction() {
        var state = TransactionState()
        state.begin(ServerText.beginWriting, commitsAtOnce: false)
        state.add(TransactionState.Note(writer: 7, number: 2))
        #expect(state.takeBegin() != nil)
        state.didBegin()
        #expect(state.rollBack() == true)
        guard case .noted(2)? = state.token else {
            Issue.record("no token")
            return
        }
        state.begin(ServerText.beginWriting, commitsAtOnce: false)
        #expect(state.token == nil)
    }
}
