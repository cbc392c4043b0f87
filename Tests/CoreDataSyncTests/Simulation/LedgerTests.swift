import CoreDataSyncSimulation
import Testing

/// The check of a simulation notices each kind of loss: final states that all devices could have, but must not.
@Suite struct LedgerTests {
    private typealias Event = Ledger.Event
    private let entities = [1: "A"]
    private var model = SimulatedModel.smallest

    /// A ledger of events, each with its device.
    private func ledger(_ events: (Int, Event)...) -> Ledger {
        var ledger = Ledger()
        for (device, event) in events { ledger.add(event, of: device) }
        return ledger
    }

    private func write(_ value: Int?, over replaced: Int? = nil, _ attribute: String = "text") -> Event {
        Event(object: 1, kind: .write, attribute: attribute, value: value, replaced: replaced)
    }

    private let creation = Event(object: 1, kind: .creation)

    /// The mistakes if object 1 has values, or is gone.
    private func mistakes(_ ledger: Ledger, _ values: [String: Int]?, _ model: SimulatedModel? = nil) -> [String] {
        let objects = values.map { [1: FinalState.Object(entity: "A", values: $0)] } ?? [:]
        return ledger.mistakes(FinalState(objects: objects), model ?? self.model, entities)
    }

    @Test func aWriteIsThereOrReplacedOrInAJournal() {
        var ledger = ledger((0, creation), (0, write(1)), (1, write(2, over: 1)))
        #expect(mistakes(ledger, ["text": 2]) == [])
        #expect(mistakes(ledger, ["text": 1]).count == 2, "an old value came back, and the new one is lost")
        #expect(mistakes(ledger, [:]).count == 1, "it is lost")
        #expect(mistakes(ledger, ["text": 9]).count == 2, "nobody has written it")
        ledger.add(write(3, over: 1), of: 2)
        #expect(mistakes(ledger, ["text": 3]).map { $0.contains("value 2 of device 1 is lost") } == [true])
        ledger.journaled = [2]
        #expect(mistakes(ledger, ["text": 3]) == [])
    }

    @Test func anObjectIsGoneOnlyIfSomebodyDeletedIt() {
        var ledger = ledger((0, creation), (0, write(1)))
        #expect(mistakes(ledger, nil).count == 2)
        var deletion = Event(object: 1, kind: .deletion)
        deletion.seen = ["text": 1]
        ledger.add(deletion, of: 1)
        #expect(mistakes(ledger, nil) == [])
        #expect(mistakes(ledger, ["text": 1]).map { $0.contains("was deleted, and exists") } == [true])
        // The one who deleted it did not know this value.
        ledger.add(write(2, over: 1), of: 2)
        #expect(mistakes(ledger, nil).count == 1)
        ledger.journaled = [2]
        #expect(mistakes(ledger, nil) == [])
    }

    @Test func anObjectThatNobodyMadeIsFound() {
        #expect(mistakes(Ledger(), [:]).count == 1)
    }

    @Test func aBackupUndoesWhatWasNotSent() {
        var ledger = ledger((0, creation), (0, write(1)), (0, write(2, over: 1)), (0, write(3, over: 2)))
        ledger.restore(0, to: 2, sent: 3)
        // The second write was sent, and the third was not.
        #expect(mistakes(ledger, ["text": 2]) == [])
        #expect(mistakes(ledger, ["text": 1]).count == 1)
    }

    @Test(arguments: [
        (SimulatedModel.Merge.sum, 5), (.min, 2), (.max, 5),
    ]) func mergedValuesAreComputed(_ merge: SimulatedModel.Merge, _ expected: Int) {
        let attribute = SimulatedModel.Attribute(name: "number1", kind: .integer, merge: merge)
        let model = SimulatedModel(entities: [.init(name: "A", attributes: [attribute])])
        var ledger = ledger((0, creation), (0, write(2, "number1")))
        ledger.beginExchange(of: 0)
        ledger.add(write(5, over: 2, "number1"), of: 0)
        #expect(mistakes(ledger, ["number1": expected], model) == [])
        #expect(mistakes(ledger, ["number1": 7], model).count == 1)
    }

    /// Of two values that are saved between two exchanges, a device can only exchange the second.
    @Test func aMinimumThatNoExchangeSawDoesNotCount() {
        let attribute = SimulatedModel.Attribute(name: "low", kind: .integer, merge: .min)
        let model = SimulatedModel(entities: [.init(name: "A", attributes: [attribute])])
        let ledger = ledger((0, creation), (0, write(2, "low")), (0, write(5, over: 2, "low")))
        #expect(mistakes(ledger, ["low": 5], model) == [])
    }
}
