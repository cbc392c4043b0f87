import CoreDataPredicate
import CoreDataPrimitives
import CoreDataStore
import Foundation

// Several stores, and how many rows they give.
extension DictionaryFetch {
    /// Returns the dictionaries of all stores together: sorted, distinct and grouped over all of them.
    ///
    /// One statement per store. With a limit each store returns as many rows as the result can have of it; for groups
    /// and distinct rows, all.
    func dictionaries(ofAll stores: [AttachedStore]) throws -> [NSDictionary] {
        var maker = DictionaryMaker(keys: columns.map(\.name))
        var numbers = columns.map { _ in RecentNumbers() }
        var values = [AnyObject?](repeating: nil, count: columns.count)
        return try combined(stores).map { tuple in
            for (index, column) in columns.enumerated() {
                values[index] = object(
                    tuple.values[index], column.slot, column.resultType, stores[tuple.store], &numbers[index])
            }
            return nested(maker.make(&values))
        }
    }

    /// How many dictionaries the stores give.
    func count(in stores: [AttachedStore]) throws -> Int {
        let isOneOfEachRow =
            groups.isEmpty && !translation.request.returnsDistinctResults
            && translation.request.havingPredicate == nil
            && !columns.contains { TupleCombination.aggregates($0.expression, isToMany) }
        return try CoreDataErrors.converting {
            if isOneOfEachRow || columns.isEmpty { return try countOfRows(stores) }
            if stores.count > 1 { return try combined(stores).count }
            var count = 0
            for store in stores {
                try store.source.forEachTuple(
                    translation.plan(for: store), columns: fetchColumns,
                    distinct: translation.request.returnsDistinctResults, groupBy: groups.map(\.expression),
                    having: having
                ) { _ in count += 1 }
            }
            return count
        }
    }

    private var fetchColumns: [FetchColumn] {
        columns.map { FetchColumn(name: $0.name, expression: $0.expression) }
    }

    /// Each row's columns; a tuple is valid during its call only.
    func forEachTuple(in stores: [AttachedStore], _ body: (FetchTuple, AttachedStore) throws -> Void) throws {
        if stores.count > 1 {
            return try combined(stores).forEach { try body(FetchTuple($0.values), stores[$0.store]) }
        }
        guard let store = stores.first else { return }
        let externals = columns.map(\.external)
        let hasExternals = externals.contains { $0 != nil }
        let (plan, isDistinct) = (translation.plan(for: store), translation.request.returnsDistinctResults)
        let groupBy = groups.map(\.expression)
        guard hasExternals else {
            return try store.source.forEachTuple(
                plan, columns: fetchColumns, distinct: isDistinct, groupBy: groupBy, having: having
            ) { try body($0, store) }
        }
        var missing: [Missing] = []
        try store.source.forEachTuple(
            plan, columns: fetchColumns, distinct: isDistinct, groupBy: groupBy, having: having
        ) { tuple in
            let values = externals.indices.map { index in
                externals[index].map { plain(tuple[index], $0, store, &missing) } ?? tuple[index]
            }
            try body(FetchTuple(values), store)
        }
        for value in missing { tell(value, store) }
    }

    private func combined(_ stores: [AttachedStore]) throws -> [TupleCombination.Tuple] {
        let request = translation.request
        return try CoreDataErrors.converting {
            let combination = try TupleCombination(
                fetchColumns, groupBy: groups.map(\.expression), having: having,
                sorts: translation.sorts, isDistinct: request.returnsDistinctResults, now: coordinator.clock.now,
                isToMany: isToMany)
            var externals: [ExpressionNode: External] = [:]
            for column in columns + groups { externals[column.expression] = column.external }
            let askedExternals = combination.asked.map { externals[$0.expression] }
            var tuples: [TupleCombination.Tuple] = []
            for (index, store) in stores.enumerated() {
                var missing: [Missing] = []
                try store.source.forEachTuple(
                    combination.plan(translation.plan(for: store)), columns: combination.asked,
                    distinct: combination.asksDistinct, groupBy: combination.groups, having: nil
                ) { tuple in
                    let values = combination.asked.indices.map { column in
                        askedExternals[column].map { plain(tuple[column], $0, store, &missing) } ?? tuple[column]
                    }
                    tuples.append(TupleCombination.Tuple(values: values, store: index))
                }
                for value in missing { tell(value, store) }
            }
            guard let first = stores.first else { return [] }
            return try combination.combined(tuples, translation.plan(for: first))
        }
    }

    /// Returns the dictionary with the elements of each composite attribute in a dictionary of their own.
    func nested(_ dictionary: NSMutableDictionary) -> NSMutableDictionary {
        guard hasComposites else { return dictionary }
        for column in columns {
            guard let composite = column.composite, let value = dictionary.object(forKey: column.name) else { continue }
            // Unless it was also requested by itself.
            if !columns.contains(where: { $0.name == column.name && $0.composite == nil }) {
                dictionary.removeObject(forKey: column.name)
            }
            let keys = column.name.dropFirst(composite.count + 1).split(separator: ".").map(String.init)
            let before = dictionary.object(forKey: composite) as? NSDictionary as? [String: Any] ?? [:]
            dictionary.setObject(
                Self.setting(value, at: keys[...], in: before) as NSDictionary, forKey: NSString(string: composite))
        }
        return dictionary
    }

    private static func setting(
        _ value: Any, at keys: ArraySlice<String>, in dictionary: [String: Any]
    ) -> [String: Any] {
        guard let key = keys.first else { return dictionary }
        var result = dictionary
        result[key] =
            keys.count == 1
            ? value : setting(value, at: keys.dropFirst(), in: dictionary[key] as? [String: Any] ?? [:])
        return result
    }

    private func isToMany(_ keys: [String]) -> Bool { Self.isToMany(keys, translation.entity, coordinator.runtime) }

    /// Returns whether the path has several values per row.
    static func isToMany(_ keys: [String], _ entity: EntityRuntime, _ model: ModelRuntime) -> Bool {
        var current = entity
        for key in keys {
            guard let slot = current.slot(forKey: key) else { return false }
            if current.slots[slot].isToMany { return true }
            guard let relationship = current.slots[slot].relationship else { return false }
            current = model.entities[relationship.destination]
        }
        return false
    }
}
