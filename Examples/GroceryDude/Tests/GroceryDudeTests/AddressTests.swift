import CoreData
import Foundation
import LivePages
import LivePagesTesting
import Testing

@testable import GroceryDude

/// Addresses with numbers: of objects of their own entity, of another one, of none.
@Suite(.timeLimit(.minutes(2))) struct AddressTests {
    /// What stands for an object in an address, and is no number of one.
    private static let noNumbers = [
        "0", "-1", "99", "9223372036854775807", "9223372036854775808", "1e1", "1.0", "x", "p1", "%20", "1%00",
        "%EF%BC%91",
    ]
    /// What has a number in its address, by the entity whose number it is.
    private static let pages = [
        ("Item", "/items"), ("Unit", "/units"), ("LocationAtHome", "/home-locations"),
        ("LocationAtShop", "/shop-locations"),
    ]

    @MainActor private func numbers(_ app: App, _ entity: String) throws -> Set<Int> {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        return Set(try app.groceries.view.fetch(request).map(\.number))
    }

    /// Home and shop locations inherit from one entity and share its numbers.
    @Test(arguments: pages) func aNumberOfAnotherEntityIsNotFound(_ entity: String, _ path: String) async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let own = try await numbers(server.app, entity)
            #expect(!own.isEmpty && own.isSubset(of: 1...5))
            for number in 1...6 {
                #expect(try await browser.get("\(path)/\(number)").status == (own.contains(number) ? 200 : 404))
            }
            for number in Self.noNumbers {
                let status = try await browser.get("\(path)/\(number)").status
                #expect(status == 404 || status == 400, "\(number): \(status)")
            }
        }
    }

    @Test func aPictureOfNothingIsNotFound() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            for number in (1...6).map(String.init) + Self.noNumbers {
                for path in ["/items/\(number)/photo", "/items/\(number)/thumbnail"] {
                    let status = try await browser.get(path).status
                    #expect(status == 404 || status == 400, "\(path): \(status)")
                }
            }
        }
    }

    @Test(arguments: pages) func aFormForAnotherEntityChangesNothing(_ entity: String, _ path: String) async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let own = try await numbers(server.app, entity)
            let before = try await browser.get("/prepare").words
            for number in (1...6).filter({ !own.contains($0) }).map(String.init) + Self.noNumbers {
                for address in ["\(path)/\(number)", "\(path)/\(number)/delete", "\(path)/\(number)/photo"] {
                    let status = try await browser.post(address, ["name": "Changed", "remove": "1"]).status
                    #expect([303, 400, 404, 410].contains(status), "\(address): \(status)")
                }
            }
            for number in ["4", "5"] + Self.noNumbers {
                for address in ["/prepare", "/shop"] {
                    #expect(try await browser.post(address, ["i": number]).status == 303)
                }
            }
            #expect(try await numbers(server.app, entity) == own)
            // Without the message of the last form.
            _ = try await browser.get("/prepare")
            #expect(try await browser.get("/prepare").words == before)
        }
    }

    @Test func aPickerTakesNoNumberOfAnotherEntity() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let shop = try #require(try await numbers(server.app, "LocationAtShop").min())
            let home = try #require(try await numbers(server.app, "LocationAtHome").min())
            let form = ["name": "Oats", "quantity": "1", "home": "\(shop)", "shop": "\(home)", "unit": "99"]
            #expect(try await browser.submit("/items", form).words.contains("Oats is added."))
            #expect(try await browser.get("/prepare").words.contains("Anywhere at home 1 Oats"))
        }
    }

    @Test func whatWasDeletedIsNotFound() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let milk = try await server.app.groceries.number(of: "Milk")
            #expect(try await browser.get("/items/\(milk)").status == 200)
            #expect(try await browser.post("/items/\(milk)/delete").status == 303)
            for path in ["/items/\(milk)", "/items/\(milk)/photo", "/items/\(milk)/thumbnail"] {
                #expect(try await browser.get(path).status == 404, "\(path)")
            }
            #expect(try await browser.post("/items/\(milk)/delete").status == 303)
            #expect(try await browser.post("/items/\(milk)", ["name": "Milk"]).status == 410)
        }
    }
}
