import CoreDataPredicate
import Foundation

/// Asks for the events of an ``NSPersistentCloudKitContainer``, oldest first.
///
///     let request = NSPersistentCloudKitContainerEventRequest.fetchEvents(after: yesterday)
///     let result = try context.execute(request) as? NSPersistentCloudKitContainerEventResult
///     for event in result?.result as? [NSPersistentCloudKitContainer.Event] ?? [] { print(event) }
///
/// `affectedStores` selects the events of these stores.
///
/// Differs from Apple: a container keeps the last 1,000 events of this run of the program. Those of earlier runs are
/// gone.
///
/// - Throws: when executed, 134091 if no cloud container has the context's coordinator.
open class NSPersistentCloudKitContainerEventRequest: NSPersistentStoreRequest {
    private enum Selection {
        case afterDate(Date)
        case afterEvent(NSPersistentCloudKitContainer.Event?)
        case matching(NSFetchRequest<any NSFetchRequestResult>)
    }

    private let selection: Selection

    /// What the result has: events, or their number.
    open var resultType = NSPersistentCloudKitContainerEventResult.ResultType.events

    private init(_ selection: Selection) {
        self.selection = selection
        super.init()
    }

    /// Makes a request for all events.
    public convenience override init() { self.init(.afterEvent(nil)) }

    /// Asks for the events that began after a date.
    open class func fetchEvents(after date: Date) -> NSPersistentCloudKitContainerEventRequest {
        NSPersistentCloudKitContainerEventRequest(.afterDate(date))
    }

    /// Asks for the events that began after another one; for all events with `nil`.
    open class func fetchEvents(
        after event: NSPersistentCloudKitContainer.Event?
    ) -> NSPersistentCloudKitContainerEventRequest { NSPersistentCloudKitContainerEventRequest(.afterEvent(event)) }

    /// Asks for what a fetch request of ``fetchForEvents()`` selects, in its order and window.
    open class func fetchEvents(
        matchingFetch fetchRequest: NSFetchRequest<any NSFetchRequestResult>
    ) -> NSPersistentCloudKitContainerEventRequest {
        NSPersistentCloudKitContainerEventRequest(.matching(fetchRequest))
    }

    /// Makes a fetch request for ``fetchEvents(matchingFetch:)``, to be given a predicate, an order and a limit.
    ///
    ///     let fetch = NSPersistentCloudKitContainerEventRequest.fetchForEvents()
    ///     fetch.predicate = NSPredicate(format: "succeeded == NO AND type == %d", NSPersistentCloudKitContainer.EventType.export.rawValue)
    ///     let request = NSPersistentCloudKitContainerEventRequest.fetchEvents(matchingFetch: fetch)
    ///
    /// Keys: `identifier`, `storeIdentifier`, `type`, `startDate`, `endDate`, `succeeded`.
    open class func fetchForEvents() -> NSFetchRequest<any NSFetchRequestResult> {
        NSFetchRequest(entityName: entityName)
    }

    private static let entityName = "NSCKEvent"

    /// A request with the same settings, which can be changed without changing this one.
    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSPersistentCloudKitContainerEventRequest(selection)
        copy.affectedStoreObjects = affectedStoreObjects
        copy.resultType = resultType
        return copy
    }
}

extension NSPersistentCloudKitContainerEventRequest: StandaloneRequest {
    func result(for coordinator: AnyObject) throws -> NSPersistentStoreResult {
        guard let coordinator = coordinator as? NSPersistentStoreCoordinator,
            let all = CloudEventLogs.shared.events(of: coordinator)
        else {
            throw CoreDataErrors.make(
                NSPersistentStoreUnsupportedRequestTypeError,
                "The context's coordinator has no events: no NSPersistentCloudKitContainer has loaded a store with cloudKitContainerOptions into it."
            )
        }
        let events = try selected(all.filter(isOfAffectedStore))
        return NSPersistentCloudKitContainerEventResult(
            resultType == .countEvents ? events.count : events, resultType)
    }

    private func isOfAffectedStore(_ event: NSPersistentCloudKitContainer.Event) -> Bool {
        guard let stores = affectedStores, !stores.isEmpty else { return true }
        return stores.contains { $0.identifier == event.storeIdentifier }
    }

    private func selected(
        _ events: [NSPersistentCloudKitContainer.Event]
    ) throws -> [NSPersistentCloudKitContainer.Event] {
        switch selection {
        case .afterDate(let date): return events.filter { $0.startDate > date }
        case .afterEvent(let event):
            guard let event else { return events }
            if let index = events.firstIndex(where: { $0.identifier == event.identifier }) {
                return Array(events[(index + 1)...])
            }
            return events.filter { $0.startDate > event.startDate }
        case .matching(let request): return try selected(events, by: request)
        }
    }

    private func selected(
        _ events: [NSPersistentCloudKitContainer.Event], by request: NSFetchRequest<any NSFetchRequestResult>
    ) throws -> [NSPersistentCloudKitContainer.Event] {
        guard request.entityName == Self.entityName else {
            throw CoreDataErrors.invalidRequest(
                "An event request selects by NSPersistentCloudKitContainerEventRequest.fetchForEvents(), not by entity '\(request.entityName ?? "")'."
            )
        }
        var found = events
        if let node = request.predicate?.node {
            let evaluator = PredicateEvaluator(node)
            found = try CoreDataErrors.converting { try found.filter { try evaluator.evaluate(.object($0)) } }
        }
        return found.window(
            sortedBy: request.sortDescriptors ?? [], offset: max(0, request.fetchOffset), limit: request.fetchLimit)
    }
}

/// What an ``NSPersistentCloudKitContainerEventRequest`` found.
open class NSPersistentCloudKitContainerEventResult: NSPersistentStoreResult {
    /// What a result has.
    public enum ResultType: Int, Sendable {
        /// `[NSPersistentCloudKitContainer.Event]`
        case events = 0
        /// An `Int`: the number of events.
        case countEvents = 1
    }

    /// What was found: see ``ResultType``.
    public let result: Any?
    /// What the request asked for.
    public let resultType: ResultType

    init(_ result: Any?, _ resultType: ResultType) {
        self.result = result
        self.resultType = resultType
        super.init()
    }

    /// Makes a stand-in, where one is wanted: a result of nothing.
    public convenience override init() { self.init(nil, .events) }
}
