import CoreDataStore
import Foundation

// From the store to rows in sections.
extension AnyFetchedResultsController {
    final func fetchRows(
        _ translation: FetchTranslation, _ order: FetchedOrder, _ dependencies: FetchedDependencies
    ) throws -> FetchedRows {
        let cache = sectionCache(translation, order)
        var objects = try fetchObjects(translation.request)
        try overlayRelated(&objects, translation, dependencies)
        if let kept = cache?.sections(ofRows: objects.count) {
            return FetchedRows(objects, sections: kept, order: order, controller: self)
        }
        let sections = try sections(of: objects, translation, order)
        cache?.keep(sections)
        return FetchedRows(objects, sections: sections, order: order, controller: self)
    }

    /// Returns the file that keeps the sections between launches; `nil` if no cache is wanted, or if the context shows
    /// other data than the stores' files.
    private func sectionCache(_ translation: FetchTranslation, _ order: FetchedOrder) -> SectionCache? {
        let context = managedObjectContext
        guard let cacheName, sectionNameKeyPath != nil, !context.hasChanges, context.parent == nil,
            context.queryGenerationToken == nil
        else { return nil }
        return SectionCache(
            named: cacheName, translation, order,
            context.stores(for: translation.entity, affected: translation.request.affectedStores))
    }

    /// Corrects the store's result if unsaved changes of related objects contradict it.
    ///
    /// A window reads additional rows for those that may leave it. If a relationship has no inverse, it is not known
    /// which rows depend on a changed object, and all rows are checked.
    private func overlayRelated(
        _ objects: inout [NSManagedObject], _ translation: FetchTranslation, _ dependencies: FetchedDependencies
    ) throws {
        let context = managedObjectContext
        guard !dependencies.isEmpty, context.hasChanges else { return }
        let related = (context.pendingChanges.updated + context.pendingChanges.inserted).filter {
            $0.hasChanges && !$0.isDeleted && dependencies.include($0.runtime)
        }
        var owners: Set<NSManagedObject> = []
        var areKnown = true
        for object in related {
            guard let found = dependencies.owners(of: object) else {
                areKnown = false
                break
            }
            owners.formUnion(found.filter { translation.includes($0) })
        }
        guard !areKnown || !owners.isEmpty else { return }
        let (limit, offset) = (max(0, translation.request.fetchLimit), max(0, translation.request.fetchOffset))
        if limit > 0 || offset > 0 || !areKnown, let wider = translation.request.copy() as? AnyFetchRequest {
            wider.fetchLimit = areKnown && limit > 0 && limit < Int.max / 4 ? offset + limit + owners.count : 0
            wider.fetchOffset = 0
            if !areKnown { wider.predicate = nil }
            objects = try fetchObjects(wider)
        }
        if areKnown {
            objects.removeAll { owners.contains($0) }
            objects += owners.filter { isMember($0, translation) }
        } else {
            objects.removeAll { !isMember($0, translation) }
        }
        try ObjectSorter(sorts: translation.sorts).sort(&objects)
        objects.removeFirst(min(offset, objects.count))
        if limit > 0, objects.count > limit { objects.removeLast(objects.count - limit) }
    }

    /// Names and sizes of the sections, in order.
    private func sections(
        of objects: [NSManagedObject], _ translation: FetchTranslation, _ order: FetchedOrder
    ) throws -> [(name: String, count: Int)] {
        guard sectionNameKeyPath != nil else { return [("", objects.count)] }
        if let counted = countedSections(translation, order), counted.reduce(0, { $0 + $1.count }) == objects.count {
            return counted
        }
        if let first = objects.first { try order.checkSectionPath(of: first) }
        var sections: [(name: String, count: Int)] = []
        var known: Set<String> = []
        for (index, object) in objects.enumerated() {
            let name = order.sectionName(of: object)
            if let last = sections.last, last.name == name {
                sections[sections.count - 1].count += 1
            } else if known.insert(name).inserted {
                sections.append((name, 1))
            } else {
                throw CoreDataErrors.invalidRequest(
                    "(NSFetchedResultsController) The fetched object at index \(index) has an out of order section name "
                        + "'\(name)'. Objects must be sorted by section name: make '\(sectionNameKeyPath ?? "")' the key of "
                        + "the first sort descriptor.")
            }
        }
        return sections
    }

    /// Returns the sections with the counts of the store, if the rows themselves are not read; `nil` if the store
    /// cannot count them.
    private func countedSections(
        _ translation: FetchTranslation, _ order: FetchedOrder
    ) -> [(name: String, count: Int)]? {
        let request = translation.request
        guard let path = sectionNameKeyPath, request.fetchBatchSize > 0 || !request.includesPropertyValues,
            order.isSortedBySectionName, let first = translation.sorts.first, first.comparison == .literal,
            request.fetchLimit == 0, request.fetchOffset == 0, !managedObjectContext.hasChanges,
            managedObjectContext.parent == nil, let firstDescriptor = request.sortDescriptors?.first
        else { return nil }
        let count = NSExpressionDescription()
        count.name = "count"
        count.expression = NSExpression(forFunction: "count:", arguments: [NSExpression.expressionForEvaluatedObject()])
        count.expressionResultType = .integer64AttributeType
        let grouped = NSFetchRequest<NSDictionary>(request)
        grouped.resultType = .dictionaryResultType
        grouped.propertiesToFetch = [path, count]
        grouped.propertiesToGroupBy = [path]
        grouped.sortDescriptors = [firstDescriptor]
        grouped.fetchBatchSize = 0
        grouped.relationshipKeyPathsForPrefetching = nil
        guard let groups = try? managedObjectContext.fetch(grouped) else { return nil }
        var sections: [(name: String, count: Int)] = []
        for group in groups {
            guard let count = (group["count"] as? NSNumber)?.intValue else { return nil }
            let name = FetchedOrder.name(of: group[path])
            // Nil and empty texts stand next to each other, and are one section.
            if sections.last?.name == name {
                sections[sections.count - 1].count += count
            } else {
                sections.append((name, count))
            }
        }
        return Set(sections.map(\.name)).count == sections.count ? sections : nil
    }
}
