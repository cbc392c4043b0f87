import CoreData
import StoreTestSupport
import Testing

/// P: contexts that are pinned to a generation of a store's data.
@Suite struct GenerationSpecification {
    @Test(arguments: SpecifiedStore.all)
    func aPinnedContextKeepsWhatItReads(_ store: SpecifiedStore) throws {
        try store.checkContexts { stack in
            let id = try stack.story { context in
                let author = context.insert("Author", ["name": "Ann"])
                try context.save()
                return author.objectID
            }
            try stack.story { context in
                try context.setQueryGenerationFrom(.current)
                #expect(try context.names("Author") == ["Ann"])
                try stack.story { other in
                    other.object(with: id).setValue("Zoe", forKey: "name")
                    _ = other.insert("Author", ["name": "Bob"])
                    try other.save()
                }
                // Other stores show what is newest.
                let keeps = store.has(.formerStates)
                #expect(try context.names("Author") == (keeps ? ["Ann"] : ["Bob", "Zoe"]))
                #expect(try context.names("Author", "name == 'Zoe'") == (keeps ? [] : ["Zoe"]))
                #expect(try context.existingObject(with: id).text("name") == (keeps ? "Ann" : "Zoe"))
            }
        }
    }

    @Test(arguments: SpecifiedStore.all)
    func whoMovesOnReadsWhatIsNewest(_ store: SpecifiedStore) throws {
        try store.checkContexts { stack in
            try stack.story { context in
                _ = context.insert("Author", ["name": "Ann"])
                try context.save()
                try context.setQueryGenerationFrom(.current)
                #expect(try context.names("Author") == ["Ann"])
                for (index, step) in ["save", "refresh", "reset", "unpin"].enumerated() {
                    try stack.story { other in
                        _ = other.insert("Author", ["name": "Bob \(index)"])
                        try other.save()
                    }
                    switch step {
                    case "save":
                        _ = context.insert("Author", ["name": "Cid"])
                        try context.save()
                    case "refresh":
                        // What it is pinned to stays; another token moves on.
                        let keeps = store.has(.formerStates)
                        context.refreshAllObjects()
                        #expect(try context.names("Author").count == (keeps ? index + 2 : index + 3))
                        try context.setQueryGenerationFrom(.current)
                    case "reset": context.reset()
                    default: try context.setQueryGenerationFrom(nil)
                    }
                    #expect(try context.names("Author").count == index + 3, "\(step)")
                    #expect((context.queryGenerationToken == nil) == (step == "unpin"))
                }
            }
        }
    }
}
