import Foundation
import Synchronization
import Testing

@testable import CoreData

/// What entities need is made when it is first asked for, once.
@Suite struct EntityRuntimesTests {
    @Test func threadsThatAskAtOnceGetTheSame() throws {
        for _ in 0..<20 {
            let runtimes = try ModelRuntime(Library.model()).entities
            let found = Mutex<[Int: Set<ObjectIdentifier>]>([:])
            DispatchQueue.concurrentPerform(iterations: 16) { thread in
                for step in 0..<runtimes.count {
                    let ordinal = (step + thread) % runtimes.count
                    let runtime = runtimes[ordinal]
                    #expect(runtime.ordinal == ordinal)
                    found.withLock { _ = $0[ordinal, default: []].insert(ObjectIdentifier(runtime)) }
                }
            }
            let instances = found.withLock { $0 }
            #expect(instances.count == runtimes.count && instances.values.allSatisfy { $0.count == 1 })
            #expect(instances.allSatisfy { $0.value == [ObjectIdentifier(runtimes[$0.key])] })
        }
    }

    @Test func descriptionsOfAnotherModelAreNone() throws {
        let model = Library.model()
        let runtime = try ModelRuntime(model)
        for entity in model.entities { #expect(runtime.runtime(of: entity)?.entity === entity) }
        for entity in Library.model().entities { #expect(runtime.runtime(of: entity) == nil) }
        #expect(runtime.runtime(of: NSEntityDescription()) == nil)
    }
}
