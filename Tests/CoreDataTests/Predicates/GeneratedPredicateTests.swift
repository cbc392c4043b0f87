import CoreData
import Foundation
import TestSupport
import Testing

/// What Foundation says of an object, a fetch finds and a converted predicate says, too: for predicates made at random.
@Suite struct GeneratedPredicateTests {
    /// What was compared.
    struct Tally {
        var predicates = 0
        var objects = 0
        var refused: [String: Int] = [:]
    }

    /// Compares Foundation with memory and with the store.
    private func compare<Object: NSManagedObject>(
        _ predicate: Predicate<Object>, _ objects: [Object], _ seed: UInt64, _ context: NSManagedObjectContext,
        _ tally: inout Tally
    ) throws {
        tally.predicates += 1
        let converted = try NSPredicate(validating: predicate)
        let request = try Object.fetchRequest(where: predicate)
        let found: Set<Object>
        do {
            found = Set(try context.fetch(request))
        } catch {
            tally.refused[error.localizedDescription, default: 0] += 1
            return
        }
        for object in objects {
            // Foundation throws for a forced value that is nil and for a range that is none; what we do then is told elsewhere.
            guard let expected = try? predicate.evaluate(object) else { continue }
            tally.objects += 1
            #expect(found.contains(object) == expected, "seed \(seed), in SQL: \(converted.node.predicateFormat)")
            #expect(
                converted.evaluate(with: object) == expected,
                "seed \(seed), in memory: \(converted.node.predicateFormat)")
        }
    }

    @Test(
        "Predicates made at random select what Foundation says they do",
        arguments: Trials.some(of: Array(0..<8), atLeast: 4))
    func generated(part: Int) throws {
        try LibraryStack(model: SagaModel.model()).story { context in
            var numbers = SeededNumbers(seed: UInt64(part) + 1)
            SagaModel.fill(context, &numbers)
            try context.save()
            let sagas = try context.all(Saga.self, "Saga")
            let beings = try context.all(Being.self, "Being")
            var tally = Tally()
            for index in 0..<400 {
                let seed = UInt64(part * 1000 + index)
                let generator = PredicateGenerator(seed: seed)
                if index % 3 == 0 {
                    try compare(generator.beings(), beings, seed, context, &tally)
                } else {
                    try compare(generator.sagas(), sagas, seed, context, &tally)
                }
            }
            #expect(tally.predicates == 400)
            #expect(tally.objects > 5000, "\(tally)")
            #expect(tally.refused == [:])
        }
    }
}
