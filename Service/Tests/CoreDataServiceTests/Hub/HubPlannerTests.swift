import CoreData
import Foundation
import Testing

@testable import CoreDataService

@Suite struct HubPlannerTests {
    private static let key = HubKey(
        root: "Item", id: UUID(uuidString: "6F9619FF-8B86-4D01-B42D-00CF4FC964FF") ?? UUID())

    private static func schema() throws -> HubSchema {
        let model = try HubModel.make()
        return HubSchema(model, try ServedModel(model))
    }

    private static func record(_ values: [String: String?]) -> HubRecord {
        HubRecord(entity: "Item", values: values.compactMapValues { $0.map { .text($0) } })
    }

    /// What becomes of a name: before, on the device, in the served store; and whether the device wrote later.
    @Test(
        arguments: [
            ("a", "a", "b", true, "nothing"), ("a", "b", "a", false, "copy"), ("a", "b", "b", false, "accept"),
            ("a", "b", "c", true, "copy"), ("a", "b", "c", false, "lose"), (nil, "b", nil, false, "create"),
            (nil, "b", "b", false, "accept"), (nil, "b", "c", true, "copy"), (nil, "b", "c", false, "lose"),
            ("a", nil, "a", false, "delete"), ("a", nil, "b", false, "delete"), ("a", nil, nil, false, "nothing"),
            ("a", "a", nil, false, "nothing"), ("a", "b", nil, false, "lost object"), (nil, nil, "a", false, "nothing"),
        ] as [(String?, String?, String?, Bool, String)])
    func oneValueIsComparedWithTwo(
        _ base: String?, _ device: String?, _ served: String?, _ isLater: Bool, _ outcome: String
    ) throws {
        let planner = HubPlanner(
            schema: try Self.schema(),
            links: base.map { [Self.key: HubLink(base: Self.record(["name": $0]), global: nil)] } ?? [:],
            replica: device.map { [Self.key: Self.record(["name": $0])] } ?? [:],
            served: served.map { [Self.key: Self.record(["name": $0])] } ?? [:],
            writtenByDevice: { _, _ in Date(timeIntervalSinceReferenceDate: 200) },
            writtenByService: { _, _ in Date(timeIntervalSinceReferenceDate: isLater ? 100 : 300) })
        let plan = planner.plan()
        #expect(Self.outcome(of: plan) == outcome)
    }

    private static func outcome(of plan: HubPlanner.Plan) -> String {
        if !plan.lostObjects.isEmpty { return "lost object" }
        if !plan.losses.isEmpty { return "lose" }
        guard let operation = plan.operations.first else { return "nothing" }
        switch operation.kind {
        case .create: return "create"
        case .delete: return "delete"
        case .update:
            return operation.changes["name"] == .copy ? "copy" : operation.changes.isEmpty ? "accept" : "?"
        }
    }

    @Test func valuesFromBeforeAttachingAreNoLosses() throws {
        let planner = HubPlanner(
            schema: try Self.schema(), links: [:], replica: [Self.key: Self.record(["name": "a"])],
            served: [Self.key: Self.record(["name": "b"])],
            writtenByDevice: { _, _ in Date(timeIntervalSinceReferenceDate: 0) },
            writtenByService: { _, _ in Date(timeIntervalSinceReferenceDate: 100) })
        #expect(planner.plan().losses.isEmpty)
    }

    @Test func objectsAreCreatedBeforeThoseThatReferToThem() {
        func operation(_ id: UUID, _ other: UUID?) -> HubOperation {
            var operation = HubOperation(key: HubKey(root: "Item", id: id), entity: "Item", kind: .create)
            operation.changes = ["list": .toOne(other.map { HubKey(root: "Item", id: $0) })]
            return operation
        }
        let ids = (0..<4).map { _ in UUID() }
        // A chain, and a cycle, which has no such order.
        let chain = HubOperation.sorted([
            operation(ids[0], ids[1]), operation(ids[1], ids[2]), operation(ids[2], ids[3]), operation(ids[3], nil),
        ])
        #expect(chain.map(\.key.id) == ids.reversed())
        let cycle = HubOperation.sorted([operation(ids[0], ids[1]), operation(ids[1], ids[0])])
        #expect(cycle.count == 2)
    }
}
